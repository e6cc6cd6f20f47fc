// SPDX-License-Identifier: MIT

/// A set of ASCII bytes, stored in two 64-bit integers. Used for tokens, URL components and field values.
struct ByteSet: Sendable {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    /// Creates a set of the bytes in `characters`. Bytes outside ASCII are ignored.
    init(_ characters: String) {
        for byte in characters.utf8 { insert(byte) }
    }

    func contains(_ byte: UInt8) -> Bool {
        if byte < 64 { return (low >> UInt64(byte)) & 1 == 1 }
        if byte < 128 { return (high >> UInt64(byte - 64)) & 1 == 1 }
        return false
    }

    func union(_ characters: String) -> ByteSet {
        var result = self
        for byte in characters.utf8 { result.insert(byte) }
        return result
    }

    private mutating func insert(_ byte: UInt8) {
        if byte < 64 { low |= 1 << UInt64(byte) } else if byte < 128 { high |= 1 << UInt64(byte - 64) }
    }

    static let alphanumerics = ByteSet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")

    /// The bytes of a token: `tchar` (RFC 9110 §5.6.2).
    static let token = alphanumerics.union("!#$%&'*+-.^_`|~")

    /// The unreserved characters of a URI (RFC 3986 §2.3).
    static let unreserved = alphanumerics.union("-._~")
}

/// Functions that classify, compare and parse ASCII text by bytes, independently of the locale.
package enum ASCII {
    package static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

    static func isUpper(_ byte: UInt8) -> Bool { byte &- 0x41 < 26 }

    package static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- 0x61 < 26 }

    /// Returns whether the byte is a space or a horizontal tab: the optional white space of RFC 9110 §5.6.3.
    package static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// Returns whether the byte is a control character: below the space (0x20), or DEL (0x7F).
    package static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 || byte == 0x7F }

    static func lower(_ byte: UInt8) -> UInt8 { isUpper(byte) ? byte | 0x20 : byte }

    static func hexValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }

    static func isToken(_ text: String) -> Bool {
        let set = ByteSet.token
        return !text.isEmpty && text.firstByte { !set.contains($0) } == nil
    }

    /// Returns the text with A–Z in lower case; other characters are unchanged. Text without A–Z is not copied.
    package static func lowercased(_ text: String) -> String {
        guard text.firstByte(where: isUpper) != nil else { return text }
        return String(decoding: text.utf8.map(lower), as: UTF8.self)
    }

    /// Returns whether two strings are equal, ignoring the case of A–Z. Does not allocate memory.
    static func equalIgnoringCase(_ left: String, _ right: String) -> Bool {
        let left = left.utf8
        let right = right.utf8
        guard left.count == right.count else { return false }
        let result = left.withContiguousStorageIfAvailable { left in
            right.withContiguousStorageIfAvailable { right in
                for index in left.indices where !same(left[index], right[index]) { return false }
                return true
            }
        }
        if let result, let result { return result }
        return zip(left, right).allSatisfy(same)
    }

    /// Parses a decimal number. Returns `nil` for empty text, for any byte that is not a digit, and on overflow.
    package static func decimal(_ text: Substring) -> Int64? { decimal(text.utf8, as: Int64.self) }

    /// The same for bytes. Pass `Int64` for positions and lengths: on some watches, `Int` has 32 bits.
    static func decimal<Value: FixedWidthInteger>(
        _ text: some Collection<UInt8>, as type: Value.Type = Int.self
    ) -> Value? {
        guard !text.isEmpty else { return nil }
        var value: Value = 0
        for byte in text {
            guard isDigit(byte) else { return nil }
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(Value(byte - 0x30))
            if overflow || carry { return nil }
            value = sum
        }
        return value
    }

    private static func same(_ left: UInt8, _ right: UInt8) -> Bool {
        left == right || (left ^ right == 0x20 && isLetter(left))
    }
}
