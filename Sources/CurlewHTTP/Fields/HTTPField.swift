// SPDX-License-Identifier: MIT

/// One header or trailer field: a name and a value.
///
/// Nothing is checked here; ``HTTPHeaders`` checks every field that it is given.
public struct HTTPField: Hashable, Sendable {
    /// The name, compared without regard to case.
    public let name: Name
    /// The value as it goes on the wire.
    public let value: String

    /// A field from its two parts.
    public init(name: Name, value: String) {
        self.name = name
        self.value = value
    }

    /// A field name: keeps its spelling, compares without regard to ASCII case (RFC 9110 §5.1).
    public struct Name: Sendable {
        /// The name as written; this spelling goes on the wire in HTTP/1.1.
        public let text: String

        /// A name of any spelling; one that is not a token is refused by ``HTTPHeaders``.
        public init(_ text: String) {
            self.text = text
        }

        /// Whether the name is a token (RFC 9110 §5.6.2).
        public var isValid: Bool { ASCII.isToken(text) }

        /// Whether the field carries a secret, so that no description may show its value.
        ///
        /// Authorization, Proxy-Authorization, Cookie, Set-Cookie and the customary names of keys and tokens.
        public var isSensitive: Bool {
            Self.sensitive.contains { ASCII.equalIgnoringCase($0, text) }
        }

        package static let sensitive = [
            "Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "X-API-Key", "API-Key", "X-Auth-Token",
            "X-Access-Token", "X-CSRF-Token", "X-XSRF-Token", "X-Amz-Security-Token", "Authentication-Info",
            "Proxy-Authentication-Info",
        ]
    }
}

extension HTTPField: CustomStringConvertible {
    /// "Name: value"; the value of a sensitive field is not shown.
    public var description: String {
        "\(name): \(name.isSensitive ? "<redacted>" : value)"
    }
}

extension HTTPField.Name: Hashable {
    /// Equal up to the case of A–Z.
    public static func == (left: HTTPField.Name, right: HTTPField.Name) -> Bool {
        ASCII.equalIgnoringCase(left.text, right.text)
    }

    /// Folds case the way `==` does, eight bytes at a time.
    public func hash(into hasher: inout Hasher) {
        var word: UInt64 = 0
        var filled = 0
        for byte in text.utf8 {
            word = word << 8 | UInt64(ASCII.lower(byte))
            filled += 1
            if filled == 8 {
                hasher.combine(word)
                word = 0
                filled = 0
            }
        }
        hasher.combine(word)
        hasher.combine(text.utf8.count)
    }
}

extension HTTPField.Name: ExpressibleByStringLiteral {
    /// A name written as a literal.
    public init(stringLiteral value: String) {
        self.init(value)
    }
}

extension HTTPField.Name: CustomStringConvertible {
    /// The name as written.
    public var description: String { text }
}
