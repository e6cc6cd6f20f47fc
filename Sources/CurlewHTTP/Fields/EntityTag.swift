// SPDX-License-Identifier: MIT

/// An entity tag: a validator that the server assigns to a representation (RFC 9110 §8.8.3).
package struct EntityTag: Hashable, Sendable {
    /// The text between the quotes.
    package let opaque: String
    /// True for `W/"…"`. Weakly equal representations are equivalent, not identical byte for byte.
    package let isWeak: Bool

    /// Parses a single tag. Returns nil for anything else.
    package init?(_ value: String) {
        var reader = FieldReader(value)
        reader.skipBlanks()
        guard let tag = reader.entityTag() else { return nil }
        reader.skipBlanks()
        guard reader.isAtEnd else { return nil }
        self = tag
    }

    fileprivate init(opaque: String, isWeak: Bool) {
        self.opaque = opaque
        self.isWeak = isWeak
    }

    /// Strong comparison (RFC 9110 §8.8.3.2): the tags are equal and both strong.
    package func matchesStrongly(_ other: EntityTag) -> Bool {
        opaque == other.opaque && !isWeak && !other.isWeak
    }

    /// Weak comparison (RFC 9110 §8.8.3.2): the tags are equal, whether weak or strong.
    package func matchesWeakly(_ other: EntityTag) -> Bool {
        opaque == other.opaque
    }

    /// Whether the value of `If-None-Match` or `If-Match` lists `tag`; `*` matches every tag. Malformed members are
    /// ignored.
    package static func list(_ value: String, names tag: EntityTag?) -> Bool {
        if value.utf8.elementsEqual([0x2A]) { return true }
        guard let tag else { return false }
        var reader = FieldReader(value)
        while !reader.isAtEnd {
            reader.skipBlanks()
            if let found = reader.entityTag() {
                if found.matchesWeakly(tag) { return true }
            }
            reader.rest = reader.rest.drop { $0 != 0x2C }
            _ = reader.take(0x2C)
        }
        return false
    }
}

extension FieldReader {
    /// `[ "W/" ] DQUOTE *etagc DQUOTE`. There are no escapes: a backslash is an ordinary character.
    fileprivate mutating func entityTag() -> EntityTag? {
        var isWeak = false
        if rest.first == 0x57 {
            rest.removeFirst()
            guard take(0x2F) else { return nil }
            isWeak = true
        }
        guard take(0x22) else { return nil }
        let bytes = rest.prefix { $0 != 0x22 && $0 > 0x20 && $0 != 0x7F }
        rest = rest[bytes.endIndex...]
        guard take(0x22) else { return nil }
        return EntityTag(opaque: String(Substring(bytes)), isWeak: isWeak)
    }
}
