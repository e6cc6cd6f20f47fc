// SPDX-License-Identifier: MIT

/// Parses single lines of a request, and determines its framing (RFC 9112 §3–§7).
package enum HTTP1Grammar {
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

    /// Parses a field line, `field-name ":" OWS field-value OWS`, and adds the field to `headers`.
    package static func field(_ line: ArraySlice<UInt8>, into headers: inout HTTPHeaders) throws(HTTP1ParseError) {
        if let first = line.first, ASCII.isBlank(first) { throw .foldedField }
        guard let colon = line.firstIndex(of: 0x3A) else { throw .badFieldName }
        let set = ByteSet.token
        let name = line[..<colon]
        guard !name.isEmpty, name.allSatisfy(set.contains) else { throw .badFieldName }
        let value = line[(colon + 1)...]
        guard value.allSatisfy({ !ASCII.isControl($0) || $0 == 0x09 }) else { throw .badFieldValue }
        headers.appendUnchecked(name: text(name), value: FieldSyntax.trimmed(text(value)))
    }

    /// Returns the framing of the content. Throws if the framing fields are invalid, ambiguous or not supported
    /// (RFC 9112 §6.3).
    static func framing(
        _ headers: HTTPHeaders, _ version: HTTPVersion
    ) throws(HTTP1ParseError) -> HTTP1RequestHead.Framing {
        let lengths = headers[values: .contentLength]
        if let coding = headers[.transferEncoding] {
            guard lengths.isEmpty, version >= .http1_1 else { throw .ambiguousLength }
            guard ASCII.equalIgnoringCase(coding, "chunked") else { throw .unsupportedTransferCoding }
            return .chunked
        }
        guard let first = lengths.first else { return .length(0) }
        guard lengths.count == 1, let length = ASCII.decimal(first.utf8) else { throw .badContentLength }
        return .length(length)
    }

    /// Parses the line before a chunk, `chunk-size [ chunk-ext ]`, and returns the size. Extensions are ignored.
    static func chunkSize(_ line: Line) throws(HTTP1ParseError) -> Int {
        var size = 0
        var digits = 0
        var remainder = line
        while let byte = remainder.first, let digit = ASCII.hexValue(byte) {
            digits += 1
            // A number of 15 hex digits is below 2⁶⁰. A 32-bit `Int` cannot hold it, so the size is checked as well.
            // Leading zeros count, because no sender needs them.
            guard digits <= 15, size <= .max >> 4 else { throw .badChunk }
            size = size << 4 | Int(digit)
            remainder.removeFirst()
        }
        guard digits > 0 else { throw .badChunk }
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
