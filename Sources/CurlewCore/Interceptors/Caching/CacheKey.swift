// SPDX-License-Identifier: MIT

/// What an entry of a cache answers (the primary key of RFC 9111 §2): a URL, what was sent to it, and for whom.
///
/// GET and HEAD share a key. Whoever is nobody shares with nobody else's: `nil` and `""` are two principals.
public struct CacheKey: Hashable, Sendable {
    /// The absolute URL, percent-encoded, without a fragment.
    public let target: String
    /// For methods whose body is part of the question: the method, and the SHA-256 of the body in hexadecimal digits,
    /// `QUERY 9f86d0…`; nil for GET and HEAD.
    public let content: String?
    /// Whose data this is; nil for what goes without a credential.
    public let principal: String?
    /// What descriptions do not show, beyond what Curlew knows. It is no part of the key.
    package var secrets = DeclaredSecrets.none

    /// A key from its parts.
    public init(target: String, content: String? = nil, principal: String? = nil) {
        self.target = target
        self.content = content
        self.principal = principal
    }

    init(target: String, content: String?, principal: String?, secrets: DeclaredSecrets) {
        self.init(target: target, content: content, principal: principal)
        self.secrets = secrets
    }

    /// The whole key as one text, different for different keys: for stores that index by text. It holds the URL as it is:
    /// redact before writing it to a log.
    public var text: String {
        func part(_ text: String?) -> String { text.map { "\($0.utf8.count):\($0)" } ?? "-" }
        return "\(part(principal)) \(part(content)) \(target)"
    }
}

extension CacheKey: CustomStringConvertible, CustomReflectable {
    /// `https://…`, then the method and the hash of the body if they count, and whether it is one party's; secret values
    /// of the URL are replaced.
    public var description: String {
        let url = secrets.redaction.url(target).printable
        return ([url] + [content].compactMap(\.self) + (principal == nil ? [] : ["for one party"])).joined(
            separator: ", ")
    }

    /// Shows the description only, to debuggers and `dump` too.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
