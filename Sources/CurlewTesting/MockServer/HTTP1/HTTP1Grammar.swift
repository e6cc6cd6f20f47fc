// SPDX-License-Identifier: MIT

import CurlewHTTP

/// Parses single lines of a request, and determines its framing (RFC 9112 §3–§7).
enum HTTP1Grammar {
    typealias Line = ArraySlice<UInt8>

    /// Parses a request line: `method SP request-target SP HTTP-version` with single spaces, as the grammar requires.
    static func requestLine(
        _ line: Line
    ) throws(HTTP1ParseError) -> (method: HTTPMethod, target: String, version: HTTPVersion) {
        let parts = line.split(separator: 0x20, omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw .badRequestLine }
        let method = HTTPMethod(rawValue: text(parts[0]))
        guard method.isValid, isTarget(parts[1], method) else { throw .badRequestLine }
        return (method, text(parts[1]), try version(parts[2]))
    }

    /// Returns the framing of the content. Throws if the framing fields are invalid, ambiguous or not supported
    /// (RFC 9112 §6.3).
    static func framing(
        _ headers: HTTPHeaders, _ version: HTTPVersion
    ) throws(HTTP1ParseError) -> HTTP1RequestHead.Framing {
        let lengths = headers[values: .contentLength]
        if let coding = headers[.transferEncoding] {
            guard lengths.isEmpty, version >= .http1_1 else { throw .ambiguousLength }
            guard ASCII.lowercased(coding) == "chunked" else { throw .unsupportedTransferCoding }
            return .chunked
        }
        guard let first = lengths.first else { return .length(0) }
        guard lengths.count == 1, let length = ASCII.decimal(first[...]).flatMap(Int.init(exactly:))
        else { throw .badContentLength }
        return .length(length)
    }

    /// Parses the line before a chunk, `chunk-size [ chunk-ext ]`, and returns the size. Extensions are ignored.
    static func chunkSize(_ line: Line) throws(HTTP1ParseError) -> Int {
        let digits = line.prefix { ASCII.isDigit($0) || (0x61...0x66).contains($0 | 0x20) }
        // Leading zeros count, because no sender needs them.
        guard digits.count <= 15, let size = Int(text(digits), radix: 16) else { throw .badChunk }
        let remainder = line[digits.endIndex...]
        let ext = remainder.drop(while: ASCII.isBlank)
        guard ext.isEmpty ? remainder.isEmpty : ext.first == 0x3B else { throw .badChunk }
        guard ext.allSatisfy({ !ASCII.isControl($0) || $0 == 0x09 }) else { throw .badChunk }
        return size
    }

    private static func version(_ bytes: Line) throws(HTTP1ParseError) -> HTTPVersion {
        let digits = bytes.dropFirst(5)
        guard bytes.starts(with: "HTTP/".utf8), digits.count == 3, digits.dropFirst().first == 0x2E,
            let major = digits.first, let minor = digits.last, ASCII.isDigit(major), ASCII.isDigit(minor)
        else { throw .badRequestLine }
        guard major == 0x31 else { throw .unsupportedVersion }
        return HTTPVersion(major: 1, minor: Int(minor - 0x30))
    }

    private static func isTarget(_ bytes: Line, _ method: HTTPMethod) -> Bool {
        guard let first = bytes.first, bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return false }
        if first == 0x2F || method == .connect { return true }
        return bytes.elementsEqual("*".utf8) || ASCII.isLetter(first) && text(bytes).contains("://")
    }

    private static func text(_ bytes: Line) -> String {
        String(decoding: bytes, as: UTF8.self)
    }
}

extension HTTP1ParseError {
    /// The status of the error response; 400 for most errors.
    var status: HTTPStatus {
        switch self {
        case .unsupportedVersion: 505
        case .headTooLarge, .tooManyFields: 431
        case .unsupportedTransferCoding: 501
        case .bodyTooLarge: .contentTooLarge
        default: .badRequest
        }
    }
}
