// SPDX-License-Identifier: MIT

// The parser as a library for `Scripts/lib/differential.py`, which compiles it as a part of CurlewHTTP.

import CurlewFoundation

/// Parses the first response of a connection, and writes JSON: either an error, or status, fields, content and trailers.
/// Returns the number of bytes written, at most `capacity`.
@_cdecl("read_response")
public func readResponse(
    _ method: UnsafePointer<CChar>, _ data: UnsafePointer<UInt8>, _ count: Int, _ output: UnsafeMutablePointer<UInt8>,
    _ capacity: Int
) -> Int {
    var parser = HTTP1ResponseParser(maximumHeadBytes: 100_000, maximumFields: 100)
    parser.begin(HTTPMethod(rawValue: String(cString: method)))
    let bytes = UnsafeRawBufferPointer(start: data, count: count)
    var offset = 0
    var status = 0
    var fields = "[]"
    var content: [UInt8] = []
    var result = ""
    do throws(HTTP1ResponseError) {
        while result.isEmpty {
            var event = try parser.next(bytes, &offset, nil)
            if event == .incomplete { event = try parser.finish() }
            switch event {
            case .incomplete, .interim: break
            case .head(let head):
                status = head.status.code
                fields = json(head.headers)
            case .content(let range): content += bytes[range]
            case .end(let trailers):
                let text = json(String(String.UnicodeScalarView(content.map { Unicode.Scalar($0) })))
                result =
                    "{\"status\":\(status),\"fields\":\(fields),\"content\":\(text),"
                    + "\"trailers\":\(json(trailers))}"
            }
        }
    } catch {
        result = "{\"error\":\"\(String(describing: error))\"}"
    }
    let written = Array(result.utf8.prefix(capacity))
    output.update(from: written, count: written.count)
    return written.count
}

private func json(_ headers: HTTPHeaders) -> String {
    "[" + headers.map { "[\(json($0.name.text)),\(json($0.value))]" }.joined(separator: ",") + "]"
}

private func json(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
        if scalar == "\"" || scalar == "\\" { result += "\\" }
        if scalar.value < 0x20 {
            let digits = String(scalar.value, radix: 16)
            result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        } else {
            result.unicodeScalars.append(scalar)
        }
    }
    return result + "\""
}
