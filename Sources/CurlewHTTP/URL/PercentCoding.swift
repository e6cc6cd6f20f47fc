// SPDX-License-Identifier: MIT

/// Percent-encoding for the components of a URL (RFC 3986 §2).
///
/// ``decode(_:plusAsSpace:)`` restores text that ``encode(_:for:)`` has encoded; for `.formValue`, set `plusAsSpace`.
package enum PercentCoding {
    /// The URL component that determines which characters are encoded.
    package enum Component: Hashable, Sendable, CaseIterable {
        /// A single path segment. "/" is encoded, and also ";", because some servers read parameters after it.
        case pathSegment
        /// A complete path. "/" and ";" are not encoded.
        case path
        /// The name of a query item. Every character that could end the name is encoded, and also "+", ";" and "'".
        case queryName
        /// The value of a query item, which is encoded like a name.
        case queryValue
        /// The fragment: the part of a URL after "#".
        case fragment
        /// A user name or a password before "@". ":" is encoded.
        case userinfo
        /// A name or a value in `application/x-www-form-urlencoded`. A space becomes "+" (WHATWG URL §5.2).
        case formValue
        /// An extended value of a field (RFC 8187). Every character outside of RFC 3986's unreserved ones is encoded.
        case extendedValue
    }

    /// Percent-encodes every byte that the component does not allow.
    ///
    /// "%" is always encoded: the text must not be encoded already.
    package static func encode(_ string: String, for component: Component) -> String {
        encode(string, keeping: component.allowed, spaceAsPlus: component == .formValue)
    }

    /// Decodes percent-encoded text. Returns `nil` if a "%" is not followed by two hex digits, or if the decoded bytes
    /// are not UTF-8.
    ///
    /// - `plusAsSpace`: whether "+" becomes a space, as in forms and some query strings. Default false.
    package static func decode(_ string: String, plusAsSpace: Bool = false) -> String? {
        guard string.utf8.contains(where: { $0 == 0x25 || (plusAsSpace && $0 == 0x2B) }) else { return string }
        guard let bytes = Self.bytes(of: string, plusAsSpace: plusAsSpace) else { return nil }
        // `String(decoding:as:)` replaces invalid UTF-8, which changes the bytes.
        let text = String(decoding: bytes, as: UTF8.self)
        return text.utf8.elementsEqual(bytes) ? text : nil
    }

    /// Percent-encodes a path like `.path`, but keeps "%": for text from a user, which may already be encoded in part.
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

    /// Returns the decoded bytes of `string`; nil if a "%" is not followed by two hex digits.
    private static func bytes(of string: String, plusAsSpace: Bool = false) -> [UInt8]? {
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
        return bytes
    }

    /// Decodes each valid percent-encoded byte once and keeps all other bytes. For inspection only, not for sending.
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
        case .extendedValue: .unreserved
        }
    }

    /// The bytes of `pchar` (RFC 3986 §3.3) without "%" and ";".
    private static let segmentBytes = ByteSet.unreserved.union("!$&'()*+,=:@")
    private static let pathBytes = segmentBytes.union(";/")
    private static let queryItemBytes = ByteSet.unreserved.union("!$()*,:@/?")
    private static let fragmentBytes = pathBytes.union("?")
    private static let userinfoBytes = ByteSet.unreserved.union("!$&'()*+,;=")
    private static let formBytes = ByteSet.alphanumerics.union("*-._")
}
