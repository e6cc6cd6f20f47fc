// SPDX-License-Identifier: MIT

/// An entity tag: a validator that the server assigns to a representation (RFC 9110 §8.8.3).
package struct EntityTag: Hashable, Sendable {
    /// The text between the quotes. Weak comparison (RFC 9110 §8.8.3.2) compares only this.
    package let opaque: String
    /// Whether the tag is weak: `W/"…"`. Representations with equal weak tags are equivalent, but need not be identical
    /// byte for byte.
    package let isWeak: Bool

    /// Returns whether the tags match by strong comparison (RFC 9110 §8.8.3.2): they are equal, and neither is weak.
    package func matchesStrongly(_ other: EntityTag) -> Bool {
        opaque == other.opaque && !isWeak && !other.isWeak
    }

    /// Returns whether the value of an `If-None-Match` field lists `tag`, by weak comparison. `*` matches every tag,
    /// and also nil. Malformed members are ignored.
    package static func list(_ value: String, names tag: EntityTag?) -> Bool {
        if value.utf8.elementsEqual([0x2A]) { return true }
        guard let tag else { return false }
        var reader = FieldReader(value)
        while !reader.isAtEnd {
            reader.skipBlanks()
            if reader.entityTag()?.opaque == tag.opaque { return true }
            reader.remainder = reader.remainder.drop { $0 != 0x2C }
            _ = reader.take(0x2C)
        }
        return false
    }
}

extension EntityTag {
    /// Parses a single tag, with or without blanks around it. Returns nil for anything else.
    package init?(_ value: String) {
        var reader = FieldReader(value)
        reader.skipBlanks()
        guard let tag = reader.entityTag() else { return nil }
        reader.skipBlanks()
        guard reader.isAtEnd else { return nil }
        self = tag
    }
}

extension FieldReader {
    /// Reads an entity tag: `[ "W/" ] DQUOTE *etagc DQUOTE`. There are no escapes: a backslash is an ordinary
    /// character.
    fileprivate mutating func entityTag() -> EntityTag? {
        var isWeak = false
        if remainder.first == 0x57 {
            remainder.removeFirst()
            guard take(0x2F) else { return nil }
            isWeak = true
        }
        guard take(0x22) else { return nil }
        let bytes = remainder.prefix { $0 != 0x22 && $0 > 0x20 && $0 != 0x7F }
        remainder = remainder[bytes.endIndex...]
        guard take(0x22) else { return nil }
        return EntityTag(opaque: String(Substring(bytes)), isWeak: isWeak)
    }
}
