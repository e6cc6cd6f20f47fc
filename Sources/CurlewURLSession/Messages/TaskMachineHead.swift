// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension TaskMachine.Head {
    /// The head of URLSession's response to a request of `method`. Throws when it is over the limits.
    init(
        _ response: HTTPURLResponse, for method: HTTPMethod, _ limits: Limits, on platform: Platform = .current
    ) throws(NetworkError) {
        let fields = ResponseFields.headers(of: response)
        let bytes = fields.reduce(0) { $0 + $1.name.text.utf8.count + $1.value.utf8.count + 4 }
        guard fields.count <= limits.headerCount, bytes <= limits.headerBytes else {
            throw NetworkError(
                .limitExceeded(.responseHeaders),
                detail: "The head of the answer has \(fields.count) fields and \(bytes) bytes.",
                hint: "Raise options.limits.headerBytes or headerCount for this call.")
        }
        let status = HTTPStatus(response.statusCode)
        let isDecoded = method != .head && ResponseFields.isDecoded(fields[.contentEncoding], on: platform)
        let declared = try ResponseFields.length(fields)
        let hasBody = method != .head && !status.forbidsContent
        length = hasBody ? (fields.contains(.contentEncoding) ? nil : declared) : 0
        codedLength = hasBody && isDecoded && fields.contains(.contentEncoding) ? declared : nil
        headers = fields
        if isDecoded {
            headers.remove(.contentEncoding)
            headers.remove(.contentLength)
        }
        self.status = status
    }
}

/// The fields of a response, as far as Foundation keeps them.
///
/// It has a dictionary: their order and the spelling of their names are lost, and fields of one name are joined with
/// commas. Here they are sorted by name, and Set-Cookie is taken apart again.
enum ResponseFields {
    static func headers(of response: HTTPURLResponse) -> HTTPHeaders {
        headers(response.allHeaderFields.map { ("\($0.key)", "\($0.value)") })
    }

    static func headers(_ fields: [(name: String, value: String)]) -> HTTPHeaders {
        var headers = HTTPHeaders()
        for field in fields.sorted(by: { ($0.name.lowercased(), $0.name) < ($1.name.lowercased(), $1.name) }) {
            let name = HTTPField.Name(field.name)
            guard name.isValid else { continue }
            let values = name == .setCookie ? cookies(field.value) : [field.value]
            for value in values { headers.appendUnchecked(name: field.name, value: cleaned(value)) }
        }
        return headers
    }

    /// The cookies in a joined field: a comma ends one if a name and `=` follow it, before a semicolon or comma.
    ///
    /// A date in `Expires` has a comma, and no `=` behind it. A cookie whose value has a comma with a name and `=`
    /// behind it is cut in two: RFC 6265 §4.1.1 allows no comma there, and nothing could tell the difference.
    static func cookies(_ text: String) -> [String] {
        var result: [String] = []
        var rest = text.utf8[...]
        var start = text.startIndex
        while let comma = rest.firstIndex(of: UInt8(ascii: ",")) {
            rest = rest[comma...].dropFirst()
            let next = rest.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            let name = next.prefix { !"=;,".utf8.contains($0) }
            guard next[name.endIndex...].first == UInt8(ascii: "="), HTTPField.Name(String(Substring(name))).isValid
            else { continue }
            result.append(String(text[start..<comma]))
            start = next.startIndex
        }
        result.append(String(text[start...]))
        return result
    }

    /// The length of the body as declared, if there is one and it counts (RFC 9112 §6.3). Throws where nobody can tell.
    static func length(_ fields: HTTPHeaders) throws(NetworkError) -> Int64? {
        guard !fields.contains(.transferEncoding), let text = fields[.contentLength] else { return nil }
        // Repeated ones have been joined.
        let values = Set(text.parts(",", keepingEmpty: true).map { $0.without() })
        let isNumber = values.count == 1 && values.allSatisfy { $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
        guard isNumber, let length = values.first.flatMap({ Int64($0) }) else {
            throw NetworkError(.badResponse, detail: "The answer declares an impossible length: \(text.printable).")
        }
        return length
    }

    /// Whether URLSession has undone these codings. An unknown one it hands over as it came: on Apple platforms that is
    /// zstd too, which the systems of the package's minimums neither ask for nor undo.
    static func isDecoded(_ codings: String?, on platform: Platform = .current) -> Bool {
        guard let codings else { return false }
        var known: Set = ["gzip", "x-gzip", "deflate", "br", "identity"]
        if platform == .linux { known.insert("zstd") }
        return codings.parts(",").allSatisfy {
            known.contains($0.without().lowercased())
        }
    }

    /// Without the blanks around it. Control bytes would let a server begin a line of ours.
    private static func cleaned(_ value: String) -> String {
        let value = String(value.trimmed())
        guard value.utf8.contains(where: { ($0 < 0x20 && $0 != 0x09) || $0 == 0x7F }) else { return value }
        let scalars = value.unicodeScalars.map { scalar in
            (scalar.value < 0x20 && scalar != "\t") || scalar.value == 0x7F ? " " : scalar
        }
        return String(String.UnicodeScalarView(scalars))
    }
}

extension HTTPVersion {
    /// The version of a protocol as URLSession names it: by its identifier of RFC 7301. Nil for another protocol.
    init?(protocolName: String) {
        switch protocolName.lowercased() {
        case "h3": self = .http3
        case "h2", "h2c": self = .http2
        case "http/1.1": self = .http1_1
        case "http/1.0": self = .http1_0
        default: return nil
        }
    }
}
