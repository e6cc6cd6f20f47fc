// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// The vendor data of a trace: the field `tracestate` (W3C Trace Context §3.3).
///
/// A list has at most 32 members with different keys, the most recently changed first. Every member is valid. The
/// values are opaque, and may identify users: the description omits them. Curlew changes no member, and
/// sends at most 512 characters.
public struct TraceState: Hashable, Sendable {
    /// A key with its value.
    public struct Member: Hashable, Sendable {
        /// The key: the name of a tracing system such as `rojo`, or of a tenant of one such as `fw529a3039@dt`.
        public let key: String
        /// The value: 1 to 256 printable ASCII characters without `,` and `=`. The last is not a space.
        public let value: String
    }

    /// The members, in the order of the field.
    public let members: [Member]

    /// The maximum number of members (§3.3.1.1).
    public static let maximumCount = 32

    /// Creates an empty list.
    public init() {
        members = []
    }

    /// Reads the values of all fields `tracestate` of a message, in order, as one list (§3.3.1.1).
    ///
    /// Empty members are ignored, and so are spaces and tabs around a member. Returns nil if a member is invalid, a key
    /// occurs twice, or there are more than 32 members: the list is then dropped as a whole.
    public init?(_ fields: [String]) {
        var members: [Member] = []
        for part in fields.flatMap({ $0.parts(",") }) {
            let text = part.trimmed()
            if text.isEmpty { continue }
            guard let equals = text.first("="), members.count < Self.maximumCount else { return nil }
            let key = String(text[..<equals])
            let value = String(text[text.index(after: equals)...])
            guard Self.isKey(key), Self.isValue(value), !members.contains(where: { $0.key == key }) else { return nil }
            members.append(Member(key: key, value: value))
        }
        self.members = members
    }

    /// Returns the value of the field, without white space; empty if there are no members. An empty field should not be
    /// sent.
    ///
    /// - `limit`: the maximum length in characters. Default 512, the minimum that systems should propagate. In a longer
    ///   list, members of more than 128 characters are removed first, then members at the end, each whole (§3.3.1.5).
    public func fieldValue(limit: Int = 512) -> String {
        var texts = members.map { $0.key + "=" + $0.value }
        var length = texts.reduce(texts.count - 1) { $0 + $1.utf8.count }
        func dropLast(where isFit: (String) -> Bool) -> Bool {
            guard length > limit, let index = texts.lastIndex(where: isFit) else { return false }
            length -= texts.remove(at: index).utf8.count + 1
            return true
        }
        while dropLast(where: { $0.utf8.count > 128 }) {}
        while dropLast(where: { _ in true }) {}
        return texts.joined(separator: ",")
    }

    /// Returns whether the text is a key (§3.3.1.3.1): a simple one of up to 256 characters, or the name of a tenant
    /// (up to 241), `@`, and the name of a system (up to 14).
    static func isKey(_ key: String) -> Bool {
        let parts = key.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        guard parts.allSatisfy({ $0.allSatisfy(isKeyByte) }), let first = parts[0].first else { return false }
        switch parts.count {
        case 1: return parts[0].count <= 256 && isLetter(first)
        case 2:
            guard let system = parts[1].first else { return false }
            return parts[0].count <= 241 && isLetterOrDigit(first) && parts[1].count <= 14 && isLetter(system)
        default: return false
        }
    }

    /// Returns whether the text is a value (§3.3.1.3.2).
    static func isValue(_ value: String) -> Bool {
        guard (1...256).contains(value.utf8.count), value.utf8.last != 0x20 else { return false }
        return value.utf8.allSatisfy {
            (0x20...0x7E).contains($0) && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "=")
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool { isLetter(byte) || (0x30...0x39).contains(byte) }

    private static func isKeyByte(_ byte: UInt8) -> Bool {
        isLetterOrDigit(byte) || "_-*/".utf8.contains(byte)
    }
}

extension TraceState: MirroredByDescription {
    /// The keys in order, without values.
    public var description: String { members.map(\.key).joined(separator: ",") }
}
