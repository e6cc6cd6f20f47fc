// SPDX-License-Identifier: MIT

/// The status line and fields of a final HTTP/1.x response, as received.
package struct HTTP1ResponseHead: Equatable, Sendable {
    package let status: HTTPStatus
    package let version: HTTPVersion
    /// The reason phrase, at most 200 bytes; nil if there is none.
    package let reasonPhrase: String?
    package let headers: HTTPHeaders
    package let framing: Framing

    /// The framing of the content (RFC 9112 §6.3).
    package enum Framing: Equatable, Sendable {
        /// No content, whatever the fields say: responses to HEAD, 204 and 304.
        case none
        /// The content has this number of bytes.
        case length(Int)
        case chunked
        /// The content ends with the connection.
        case untilClose
        /// What follows is another protocol: 101, or 2xx to CONNECT. The response ends with its head.
        case switched
    }
}

/// What the fields of a response declare about the end of its content and of the connection.
struct HTTP1DeclaredFraming {
    private(set) var length: Int?
    private(set) var isChunked = false
    private(set) var problem: HTTP1ResponseError?
    private(set) var closes = false
    private(set) var keepsAlive = false

    /// Whether the fields declare content.
    var hasContent: Bool { isChunked || length ?? 0 > 0 || problem != nil }

    /// Notes a field line whose name is valid, if it is about framing.
    mutating func note(_ line: UnsafeRawBufferPointer, isFolded: Bool) {
        switch line[0] | 0x20 {
        case UInt8(ascii: "c") where Self.isNamed("content-length", line): noteLength(Self.withoutBlanks(line[15...]))
        case UInt8(ascii: "c") where Self.isNamed("connection", line): noteOptions(Self.withoutBlanks(line[11...]))
        case UInt8(ascii: "t") where Self.isNamed("transfer-encoding", line): noteCoding(line[18...])
        default: return
        }
        if isFolded { problem = .badFraming }
    }

    /// Digits. Repeated equal numbers, in one field or several, are one, because intermediaries join fields (RFC 9112
    /// §6.3, rule 5).
    private mutating func noteLength(_ value: Slice<UnsafeRawBufferPointer>) {
        if length == nil, let number = ASCII.decimal(value) { return length = number }
        for element in value.split(separator: 0x2C, omittingEmptySubsequences: false) {
            guard let number = ASCII.decimal(Self.withoutBlanks(element)), length == nil || length == number else {
                return problem = .badContentLength
            }
            length = number
        }
    }

    /// `chunked` alone. Other codings are refused, so a list is as well (RFC 9112 §6.1, §7).
    private mutating func noteCoding(_ value: Slice<UnsafeRawBufferPointer>) {
        if isChunked || !Self.equal(Self.withoutBlanks(value), "chunked") { problem = .badTransferCoding }
        isChunked = true
    }

    private mutating func noteOptions(_ value: Slice<UnsafeRawBufferPointer>) {
        if Self.equal(value, "keep-alive") { return keepsAlive = true }
        for option in value.split(separator: 0x2C) {
            let option = Self.withoutBlanks(option)
            if option.contains(where: { ASCII.isControl($0) && $0 != 0x09 }) { problem = .badFraming }
            if Self.equal(option, "close") { closes = true }
            if Self.equal(option, "keep-alive") { keepsAlive = true }
        }
    }

    /// Returns whether the text before the colon is this lower-case name.
    private static func isNamed(_ name: StaticString, _ line: UnsafeRawBufferPointer) -> Bool {
        let count = name.utf8CodeUnitCount
        return line.count > count && line[count] == 0x3A && equal(line[..<count], name)
    }

    /// Compares with a text in lower case, regardless of case.
    private static func equal(_ slice: Slice<UnsafeRawBufferPointer>, _ text: StaticString) -> Bool {
        let bytes = UnsafeRawBufferPointer(rebasing: slice)
        let text = UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        guard bytes.count == text.count else { return false }
        for index in 0..<text.count where bytes[index] != text[index] {
            guard ASCII.isUpper(bytes[index]), bytes[index] | 0x20 == text[index] else { return false }
        }
        return true
    }

    /// Returns the bytes without spaces and tabs at the ends. Control bytes stay, and make the value invalid.
    private static func withoutBlanks(_ bytes: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
        guard let first = bytes.firstIndex(where: { !ASCII.isBlank($0) }),
            let last = bytes.lastIndex(where: { !ASCII.isBlank($0) })
        else { return bytes[bytes.endIndex...] }
        return bytes[first...last]
    }
}
