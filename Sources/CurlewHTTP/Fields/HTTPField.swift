// SPDX-License-Identifier: MIT

/// A header or trailer field: a name and a value.
///
/// The field itself is not validated. ``HTTPHeaders`` validates every field that is added to it.
public struct HTTPField: Hashable, Sendable {
    /// The name, compared without regard to case.
    public let name: Name
    /// The value as sent on the wire.
    public let value: String
    /// Whether the headers that contained the field declare it secret; nil if the name decides.
    let isDeclaredSecret: Bool?

    /// Creates a field from a name and a value.
    public init(name: Name, value: String) {
        self.init(name: name, value: value, isDeclaredSecret: nil)
    }

    init(name: Name, value: String, isDeclaredSecret: Bool?) {
        self.name = name
        self.value = value
        self.isDeclaredSecret = isDeclaredSecret
    }

    /// Whether names and values are equal. Declarations of secrecy affect descriptions only.
    public static func == (left: HTTPField, right: HTTPField) -> Bool {
        left.name == right.name && left.value == right.value
    }

    /// Consistent with `==`.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(value)
    }

    /// A field name. Keeps its spelling and compares without regard to ASCII case (RFC 9110 §5.1).
    public struct Name: Sendable {
        /// The name as written. HTTP/1.1 sends this spelling.
        public let text: String

        /// Creates a name with any spelling. ``HTTPHeaders`` rejects a name that is not a token.
        public init(_ text: String) {
            self.text = text
        }

        /// Whether the name is a token (RFC 9110 §5.6.2).
        public var isValid: Bool { ASCII.isToken(text) }

        /// Whether the field is treated as a secret, so that descriptions omit its value.
        ///
        /// True for Authorization, Proxy-Authorization, Cookie and Set-Cookie, for names with an ending such as
        /// `token`, `secret`, `password`, `key`, `session` or `signature`, and for names by which services identify
        /// users.
        public var isSensitive: Bool {
            isCredential || SecretName.covers(field: text)
        }

        /// Whether the field is always a credential, whatever is declared.
        package var isCredential: Bool {
            Self.sensitive.contains { ASCII.equalIgnoringCase($0, text) }
        }

        /// Whether descriptions must omit the value. `declared` is true for a declared secret, false for a declared
        /// non-secret, nil for neither. A credential is always a secret.
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
    /// "Name: value". The value of a sensitive field is redacted. URLs are shown without user information, query and
    /// fragment.
    public var description: String {
        let isSecret = name.isSecret(declared: isDeclaredSecret)
        return "\(name): \(isSecret ? Self.mark : Self.urlNames.contains(name) ? withoutSecrets : value)"
    }

    private static let mark = "<redacted>"
    private static let urlNames: Set<Name> = [.location, .contentLocation, .referer, .link, "Refresh"]

    /// The URL without query, fragment and user information.
    private var withoutSecrets: String {
        let end = value.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
        let path = value.utf8[..<(end ?? value.utf8.endIndex)]
        let shown = path.lastIndex(of: UInt8(ascii: "@")).map { Self.mark + String(Substring(path[$0...])) }
        return (shown ?? String(Substring(path))) + (end == nil ? "" : Self.mark)
    }
}

extension HTTPField: CustomReflectable {
    /// Reflects the description only, also in debuggers and `dump`.
    public var customMirror: Mirror { Mirror(self, children: ["field": description]) }
}

extension HTTPField.Name: Hashable {
    /// Whether the names are equal, ignoring the case of A–Z.
    public static func == (left: HTTPField.Name, right: HTTPField.Name) -> Bool {
        ASCII.equalIgnoringCase(left.text, right.text)
    }

    /// Folds case as `==` does, eight bytes at a time.
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
    /// Creates a name from a string literal.
    public init(stringLiteral value: String) {
        self.init(value)
    }
}

extension HTTPField.Name: CustomStringConvertible {
    /// The name as written.
    public var description: String { text }
}
