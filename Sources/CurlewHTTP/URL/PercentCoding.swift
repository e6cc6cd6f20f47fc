// SPDX-License-Identifier: MIT

/// Percent-encoding for the components of a URL (RFC 3986 §2).
///
/// ``decode(_:)`` restores the text that was encoded for a component, and ``decodeForm(_:)`` restores form values.
public enum PercentCoding {
    /// The URL component that determines which characters are encoded.
    public enum Component: Hashable, Sendable, CaseIterable {
        /// A single path segment. Encodes "/" and also ";", after which some servers read parameters.
        case pathSegment
        /// A whole path. "/" is not encoded.
        case path
        /// The name of a query item. Encodes every character that could end it, and "+", ";" and "'".
        case queryName
        /// The value of a query item. Encoded like a name.
        case queryValue
        /// The part after "#".
        case fragment
        /// A user name or password before "@". Encodes ":".
        case userinfo
        /// A name or value of `application/x-www-form-urlencoded`. A space becomes "+" (WHATWG URL §5.2).
        case formValue
    }

    /// Encodes every byte that the component does not allow. Returns the same string if there is none.
    ///
    /// "%" is always encoded: the input must not be encoded already.
    public static func encode(_ string: String, for component: Component) -> String {
        let allowed = component.allowed
        return encode(string, keeping: allowed, spaceAsPlus: component == .formValue)
    }

    /// Decodes percent-encoded text. Returns `nil` if a "%" is not followed by two hex digits, or if the bytes are not
    /// UTF-8.
    public static func decode(_ string: String) -> String? {
        decode(string, plusAsSpace: false)
    }

    /// Decodes like ``decode(_:)`` and replaces "+" with a space: for forms, and for query strings in form encoding.
    public static func decodeForm(_ string: String) -> String? {
        decode(string, plusAsSpace: true)
    }

    /// Encodes a path like `.path`, but leaves "%" unchanged: for text from a user, which may be partly encoded.
    package static func repairPath(_ string: String) -> String {
        encode(string, keeping: writtenPathBytes)
    }

    static func encode(_ string: String, keeping allowed: ByteSet, spaceAsPlus: Bool = false) -> String {
        guard string.firstByte(where: { !allowed.contains($0) }) != nil else { return string }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(string.utf8.count + 32)
        for byte in string.utf8 {
            if allowed.contains(byte) {
                bytes.append(byte)
            } else if spaceAsPlus, byte == 0x20 {
                bytes.append(0x2B)
            } else {
                bytes.append(0x25)
                bytes.append(hexDigit(byte >> 4))
                bytes.append(hexDigit(byte & 15))
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func decode(_ string: String, plusAsSpace: Bool) -> String? {
        guard string.utf8.contains(where: { $0 == 0x25 || (plusAsSpace && $0 == 0x2B) }) else { return string }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(string.utf8.count)
        var source = string.utf8.makeIterator()
        while let byte = source.next() {
            if byte == 0x25 {
                guard let high = source.next().flatMap(ASCII.hexValue), let low = source.next().flatMap(ASCII.hexValue)
                else { return nil }
                bytes.append(high << 4 | low)
            } else {
                bytes.append(plusAsSpace && byte == 0x2B ? 0x20 : byte)
            }
        }
        // Invalid UTF-8 is repaired when decoding, which changes the bytes.
        let text = String(decoding: bytes, as: UTF8.self)
        return text.utf8.elementsEqual(bytes) ? text : nil
    }

    /// Decodes each well-formed escape once and leaves other bytes unchanged. For inspection only, not for sending.
    package static func decodeLeniently(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            if bytes[index] == 0x25, index + 2 < bytes.count, let high = ASCII.hexValue(bytes[index + 1]),
                let low = ASCII.hexValue(bytes[index + 2])
            {
                result.append(high << 4 | low)
                index += 3
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return result
    }

    private static let writtenPathBytes = Component.path.allowed.union("%")

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? 0x30 + value : 0x41 + value - 10
    }
}

extension PercentCoding.Component {
    var allowed: ByteSet {
        switch self {
        case .pathSegment: Self.segmentBytes
        case .path: Self.pathBytes
        case .queryName, .queryValue: Self.queryItemBytes
        case .fragment: Self.fragmentBytes
        case .userinfo: Self.userinfoBytes
        case .formValue: Self.formBytes
        }
    }

    /// `pchar` without the percent sign (RFC 3986 §3.3).
    private static let segmentBytes = ByteSet.unreserved.union("!$&'()*+,=:@")
    private static let pathBytes = segmentBytes.union(";/")
    private static let queryItemBytes = ByteSet.unreserved.union("!$()*,:@/?")
    private static let fragmentBytes = pathBytes.union("?")
    private static let userinfoBytes = ByteSet.unreserved.union("!$&'()*+,;=")
    private static let formBytes = ByteSet.alphanumerics.union("*-._")
}
