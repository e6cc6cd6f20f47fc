// SPDX-License-Identifier: MIT

/// One header or trailer field: a name and a value.
///
/// Nothing is checked here; ``HTTPHeaders`` checks every field that it is given.
public struct HTTPField: Hashable, Sendable {
    /// The name, compared without regard to case.
    public let name: Name
    /// The value as it goes on the wire.
    public let value: String
    /// Declared as a secret, or as none, where it was taken from its headers; nil for what the name says.
    let isDeclaredSecret: Bool?

    /// A field from its two parts.
    public init(name: Name, value: String) {
        self.init(name: name, value: value, isDeclaredSecret: nil)
    }

    init(name: Name, value: String, isDeclaredSecret: Bool?) {
        self.name = name
        self.value = value
        self.isDeclaredSecret = isDeclaredSecret
    }

    /// Equal when name and value are. What was declared of it shows in descriptions only.
    public static func == (left: HTTPField, right: HTTPField) -> Bool {
        left.name == right.name && left.value == right.value
    }

    /// Consistent with `==`.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(value)
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

        /// Whether the field is taken for a secret, so that no description shows its value.
        ///
        /// Authorization, Proxy-Authorization, Cookie and Set-Cookie, every name that ends like one of a secret (`token`,
        /// `secret`, `password`, `key`, `session`, `signature` and their kin), and those by which services know users.
        public var isSensitive: Bool {
            isCredential || SecretName.covers(field: text)
        }

        /// Whether the field is a credential whatever is declared of it.
        package var isCredential: Bool {
            Self.sensitive.contains { ASCII.equalIgnoringCase($0, text) }
        }

        /// Whether no text may show a value of the field, given what was declared of the name: true for a secret, false for
        /// none, nil for nothing. A credential is a secret in any case.
        func isSecret(declared: Bool?) -> Bool {
            isCredential || declared ?? isSensitive
        }

        package static let sensitive = [
            "Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "X-API-Key", "API-Key", "X-Auth-Token",
            "X-Access-Token", "X-CSRF-Token", "X-XSRF-Token", "X-Amz-Security-Token", "Authentication-Info",
            "Proxy-Authentication-Info",
        ]
    }
}

extension HTTPField: CustomStringConvertible {
    /// "Name: value"; the value of a sensitive field is not shown, and of one that holds a URL neither user information
    /// nor query and fragment.
    public var description: String {
        let isSecret = name.isSecret(declared: isDeclaredSecret)
        return "\(name): \(isSecret ? Self.mark : Self.urlNames.contains(name) ? withoutSecrets : value)"
    }

    private static let mark = "<redacted>"
    private static let urlNames: Set<Name> = [.location, .contentLocation, .referer, .link, "Refresh"]

    /// The URL up to its query, without user information.
    private var withoutSecrets: String {
        let end = value.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
        let path = value.utf8[..<(end ?? value.utf8.endIndex)]
        let shown = path.lastIndex(of: UInt8(ascii: "@")).map { Self.mark + String(Substring(path[$0...])) }
        return (shown ?? String(Substring(path))) + (end == nil ? "" : Self.mark)
    }
}

extension HTTPField: CustomReflectable {
    /// Shows the description only, to debuggers and `dump` too.
    public var customMirror: Mirror { Mirror(self, children: ["field": description]) }
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
        _ = text.firstByte { byte in
            word = word << 8 | UInt64(ASCII.lower(byte))
            filled += 1
            if filled == 8 {
                hasher.combine(word)
                word = 0
                filled = 0
            }
            return false
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
