// SPDX-License-Identifier: MIT

package import CurlewCore

/// The primary key of a stored response (RFC 9111 §2): a URL, the request content that counts, and the principal.
///
/// GET and HEAD share a key. Requests without a principal share no entries with others: `nil` and `""` are
/// different principals.
public struct CacheKey: Hashable, Sendable {
    /// The absolute URL, percent-encoded, without a fragment.
    public let target: String
    /// For methods whose body is a part of the key: the method, and the SHA-256 of the body in hexadecimal digits,
    /// `QUERY 9f86d0…`; nil for GET and HEAD.
    public let content: String?
    /// The principal whose data this is; nil for requests without a credential.
    public let principal: String?
    /// Values to redact in descriptions, beyond those that Curlew knows. They are not a part of the key.
    package var secrets = DeclaredSecrets.none

    /// Creates a key from its parts.
    public init(target: String, content: String? = nil, principal: String? = nil) {
        self.target = target
        self.content = content
        self.principal = principal
    }

    init(target: String, content: String?, principal: String?, secrets: DeclaredSecrets) {
        self.init(target: target, content: content, principal: principal)
        self.secrets = secrets
    }

    /// The whole key as one text, unique for each key, for stores with a text index. It contains the URL unredacted:
    /// redact it before writing it to a log.
    public var text: String {
        func part(_ text: String?) -> String { text.map { "\($0.utf8.count):\($0)" } ?? "-" }
        return "\(part(principal)) \(part(content)) \(target)"
    }
}

extension CacheKey: CustomStringConvertible, CustomReflectable {
    /// `https://…`, then the method and the hash of the body if they are a part of the key, and whether it belongs to
    /// one party. Secret values of the URL are replaced.
    public var description: String {
        let url = secrets.redaction.url(target).printable
        return ([url] + [content].compactMap(\.self) + (principal == nil ? [] : ["for one principal"])).joined(
            separator: ", ")
    }

    /// Shows only the description, also in debuggers and `dump`.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
