// SPDX-License-Identifier: MIT

package import CurlewCore
public import CurlewHTTP

extension HTTPCache.Entry {
    /// The primary key of a stored response (RFC 9111 §2): the URL, the body of the request if it selects the response,
    /// and the principal.
    ///
    /// GET and HEAD share a key. The principals `nil` and `""` are different: requests without a principal share no
    /// entries with requests that have one.
    public struct Key: Hashable, Sendable {
        /// The absolute URL, percent-encoded, without a fragment.
        public let target: String
        /// The content of the request, if it selects the response: the method, and a SHA-256 in hexadecimal digits of
        /// the body and its `Content-` fields, such as `QUERY 9f86d0…`. Nil for GET and HEAD without a body. If the
        /// call skips content decoding, the value begins with `raw`, also for GET and HEAD.
        public let content: String?
        /// The text of the principal for which the response is stored; nil if there is none, as for requests without a
        /// credential.
        public let principal: String?
        /// Values to redact in descriptions, in addition to those that Curlew knows. They are not a part of the key.
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

        /// The complete key as one string, unique for each key, for stores that index strings. The URL is not redacted:
        /// redact it before you write the string to a log.
        public var text: String {
            func part(_ text: String?) -> String { text.map { "\($0.utf8.count):\($0)" } ?? "-" }
            return "\(part(principal)) \(part(content)) \(target)"
        }
    }
}

extension HTTPCache.Entry.Key: MirroredByDescription {
    /// The URL, then the content of the key if it has one, and whether it has a principal: `https://…, for one
    /// principal`. Secret values of the URL are redacted.
    public var description: String {
        let url = secrets.redaction.url(target).printable
        return ([url] + [content].compactMap(\.self) + (principal == nil ? [] : ["for one principal"])).joined(
            separator: ", ")
    }
}
