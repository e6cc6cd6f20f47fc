// SPDX-License-Identifier: MIT

/// Percent-encoding with one table for each URL component (RFC 3986 §2).
///
/// What is encoded for a component comes back the same from ``decode(_:)``, or from ``decodeForm(_:)`` for form values.
public enum PercentCoding {
    /// Where the text will stand, which decides what may stay as it is.
    public enum Component: Hashable, Sendable, CaseIterable {
        /// One segment of a path: "/" is encoded, and ";", behind which some servers read parameters.
        case pathSegment
        /// A whole path: "/" stays.
        case path
        /// The name of a query item: everything that could end it is encoded, also "+", ";" and "'".
        case queryName
        /// The value of a query item: as a name.
        case queryValue
        /// The part behind "#".
        case fragment
        /// A user name or a password before "@": ":" is encoded.
        case userinfo
        /// A name or value of `application/x-www-form-urlencoded`: a space becomes "+" (WHATWG URL §5.2).
        case formValue
    }

    /// The text with every byte encoded that the component does not allow; the same string if there is none.
    ///
    /// "%" is always encoded: the text is what is meant, not something encoded before.
    public static func encode(_ string: String, for component: Component) -> String {
        let allowed = component.allowed
        return encode(string, keeping: allowed, spaceAsPlus: component == .formValue)
    }

    /// The text that was encoded; `nil` if a "%" has no two hex digits after it or the bytes are not UTF-8.
    public static func decode(_ string: String) -> String? {
        decode(string, plusAsSpace: false)
    }

    /// As ``decode(_:)``, with "+" as a space: for forms, and for query strings that follow their rules.
    public static func decodeForm(_ string: String) -> String? {
        decode(string, plusAsSpace: true)
    }

    /// A path encoded like a `.path`, but "%" stays: for text that a person wrote, which may be encoded in part.
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
        // Decoding repairs what is not UTF-8, and a repair shows in the bytes.
        let text = String(decoding: bytes, as: UTF8.self)
        return text.utf8.elementsEqual(bytes) ? text : nil
    }

    /// The bytes with each well-formed escape decoded once; anything else stays. For looking, not for sending.
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

    /// `pchar` without the percent sign, RFC 3986 §3.3.
    private static let segmentBytes = ByteSet.unreserved.union("!$&'()*+,=:@")
    private static let pathBytes = segmentBytes.union(";/")
    private static let queryItemBytes = ByteSet.unreserved.union("!$()*,:@/?")
    private static let fragmentBytes = pathBytes.union("?")
    private static let userinfoBytes = ByteSet.unreserved.union("!$&'()*+,;=")
    private static let formBytes = ByteSet.alphanumerics.union("*-._")
}
