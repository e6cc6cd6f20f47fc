// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension TaskMachine.Head {
    /// Creates the head from URLSession's response to a request with `method`. Throws if the head exceeds the limits,
    /// or if it declares an impossible length.
    init(
        _ response: HTTPURLResponse, for method: HTTPMethod, _ limits: Limits, on platform: Platform = .current
    ) throws(NetworkError) {
        let fields = ResponseFields.headers(of: response)
        let bytes = fields.reduce(0) { $0 + $1.name.text.utf8.count + $1.value.utf8.count + 4 }
        guard fields.count <= limits.headerCount, bytes <= limits.headerBytes else {
            throw NetworkError(
                .limitExceeded(.responseHeaders),
                detail: "The response head has \(fields.count) fields and \(bytes) bytes.",
                hint: "Raise options.limits.headerBytes or headerCount for this call.")
        }
        if platform == .apple, fields[.contentType].flatMap(MediaType.init)?.essence == "multipart/x-mixed-replace" {
            throw NetworkError(
                .badResponse, detail: "URLSession removes the boundaries of multipart/x-mixed-replace.",
                hint: "Request the parts one by one, or as server-sent events.")
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

/// Restores the fields of a response from Foundation's dictionary.
///
/// The dictionary loses the order and the spelling of names, and joins repeated fields with commas. The restored fields
/// are sorted by name, and Set-Cookie is split again.
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
            for value in values { headers.appendUnchecked(HTTPField(name: name, value: cleaned(value))) }
        }
        return headers
    }

    /// Splits joined cookies: a comma ends a cookie if a name and `=` follow before the next semicolon or comma.
    ///
    /// The comma in an `Expires` date is not followed by a name and `=`. A cookie whose value contains a comma followed
    /// by a name and `=` is split incorrectly. RFC 6265 §4.1.1 allows no comma in a value, and the two cases cannot be
    /// distinguished.
    static func cookies(_ text: String) -> [String] {
        var result: [String] = []
        var remainder = text.utf8[...]
        var start = text.startIndex
        while let comma = remainder.firstIndex(of: UInt8(ascii: ",")) {
            remainder = remainder[comma...].dropFirst()
            let next = remainder.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            let name = next.prefix { !"=;,".utf8.contains($0) }
            guard next[name.endIndex...].first == UInt8(ascii: "="), HTTPField.Name(String(Substring(name))).isValid
            else { continue }
            result.append(String(text[start..<comma]))
            start = next.startIndex
        }
        result.append(String(text[start...]))
        return result
    }

    /// Returns the length of the body that `Content-Length` declares; nil if there is none or if `Transfer-Encoding`
    /// overrides it (RFC 9112 §6.3). Throws if the length is ambiguous.
    static func length(_ fields: HTTPHeaders) throws(NetworkError) -> Int64? {
        guard !fields.contains(.transferEncoding), let text = fields[.contentLength] else { return nil }
        // Foundation has joined repeated `Content-Length` fields.
        let values = Set(text.parts(",", keepingEmpty: true).map { $0.without() })
        let isNumber = values.count == 1 && values.allSatisfy { $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
        guard isNumber, let length = values.first.flatMap({ Int64($0) }) else {
            throw NetworkError(.badResponse, detail: "The response declares an impossible length: \(text.printable).")
        }
        return length
    }

    /// Whether URLSession has decoded these content codings. It delivers a body with an unknown coding as received. On
    /// Apple platforms zstd is unknown: the minimum versions of this package neither request nor decode it.
    static func isDecoded(_ codings: String?, on platform: Platform = .current) -> Bool {
        guard let codings else { return false }
        var known: Set = ["gzip", "x-gzip", "deflate", "br", "identity"]
        if platform == .linux { known.insert("zstd") }
        return codings.parts(",").allSatisfy {
            known.contains($0.without().lowercased())
        }
    }

    /// Removes surrounding whitespace, and replaces control characters with spaces, because they could inject a line.
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
    /// Creates a version from the ALPN identifier (RFC 7301) that URLSession reports as the protocol name. Returns nil
    /// for an unknown protocol.
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
