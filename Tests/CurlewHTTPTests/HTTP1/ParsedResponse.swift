// SPDX-License-Identifier: MIT

@testable import CurlewHTTP

/// What a parser returned for some bytes, independent of how they were split: one text per event, with the content of
/// a response in one.
struct ResponseRun: Equatable, CustomStringConvertible {
    private(set) var events: [String] = []
    private(set) var content: [UInt8] = []
    private(set) var error: HTTP1ResponseError?
    private(set) var keepsConnection = false
    /// The number of bytes that belong to the response.
    private(set) var consumed = 0

    /// Feeds `bytes` in pieces that end at `cuts`, and then the end of the connection. Each piece is appended to what the
    /// parser has left of those before.
    init(
        _ bytes: [UInt8], cuts: [Int] = [], method: HTTPMethod = .get, maximumHeadBytes: Int = 1000,
        maximumFields: Int = 10, known: FieldCache? = nil
    ) {
        var parser = HTTP1ResponseParser(maximumHeadBytes: maximumHeadBytes, maximumFields: maximumFields)
        parser.begin(method)
        do throws(HTTP1ResponseError) {
            var buffer: [UInt8] = []
            var start = 0
            for end in cuts + [bytes.count] {
                buffer += bytes[start..<end]
                start = end
                // The end of the array is the end of its memory, which the address sanitizer watches.
                buffer = Array(buffer)
                if try feed(&buffer, &parser, known) { break }
            }
            if !parser.isBetweenResponses { note(try parser.finish(), []) }
        } catch {
            self.error = error
        }
        keepsConnection = parser.keepsConnection
    }

    init(_ text: String, method: HTTPMethod = .get, maximumHeadBytes: Int = 1000, maximumFields: Int = 10) {
        self.init(
            Array(text.utf8), method: method, maximumHeadBytes: maximumHeadBytes, maximumFields: maximumFields)
    }

    /// Returns whether the response has ended.
    private mutating func feed(
        _ buffer: inout [UInt8], _ parser: inout HTTP1ResponseParser, _ known: FieldCache?
    ) throws(HTTP1ResponseError) -> Bool {
        var offset = 0
        defer {
            consumed += offset
            buffer.removeFirst(offset)
        }
        while true {
            let before = offset
            let result = buffer.withUnsafeBytes { bytes in
                Result { () throws(HTTP1ResponseError) in try parser.next(bytes, &offset, known) }
            }
            let event = try result.get()
            precondition(offset >= before && offset <= buffer.count)
            note(event, buffer)
            if case .end = event { return true }
            if event == .incomplete { return false }
        }
    }

    private mutating func note(_ event: HTTP1ResponseParser.Event, _ buffer: [UInt8]) {
        switch event {
        case .incomplete: break
        case .interim(let status, let headers): events.append("\(status.code)\(Self.text(headers))")
        case .head(let head):
            let start = "\(head.version) \(head.status.code) \(head.reasonPhrase ?? "-") \(head.framing)"
            events.append(start + Self.text(head.headers))
        case .content(let range):
            precondition(!range.isEmpty)
            content += buffer[range]
        case .end(let trailers): events.append("end" + Self.text(trailers))
        }
    }

    private static func text(_ headers: HTTPHeaders) -> String {
        headers.map { "|\($0.name.text): \($0.value)" }.joined()
    }

    var description: String { "\(events) \(String(decoding: content, as: UTF8.self)) \(error.map { "\($0)" } ?? "")" }
}
