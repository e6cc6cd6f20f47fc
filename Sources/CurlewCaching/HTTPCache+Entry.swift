// SPDX-License-Identifier: MIT

package import CurlewCore
public import CurlewFoundation
public import CurlewHTTP

extension HTTPCache {
    /// The head of a stored response, with everything that a cache needs to decide whether it may be used for a
    /// request.
    public struct Entry: Hashable, Sendable {
        /// The maximum number of entries that share a key: 32.
        public static let variantLimit = 32

        /// The identifier of the entry. An entry that replaces another one has a different identifier.
        public let id: HTTPCache.Entry.ID
        /// The primary key, which identifies the requests for which the response is stored.
        public let key: HTTPCache.Entry.Key
        /// The secondary key (RFC 9111 §4.1): the request fields that `Vary` names, normalized, as one string. If the
        /// string is long or contains a secret, it is replaced by its hash. Entries of the same key and variant replace
        /// each other. Empty without `Vary`.
        public var variant = ""
        /// The status. A 206 is a part of a representation.
        public var status: HTTPStatus
        /// The fields of the response, without `Set-Cookie` and those that belong to a connection (RFC 9111 §3.1).
        public var headers: HTTPHeaders
        /// The protocol version of the response.
        public var version: HTTPVersion
        /// The wall-clock time at which the attempt that received the response was sent.
        public var requestTime: Date
        /// The wall-clock time at which the response head arrived.
        public var responseTime: Date
        /// The tags of the entry. `HTTPCache.Removal.tags` removes the entries that have one it names.
        public var tags: Set<String>
        /// The number of bytes of the body. Stores set it when the body is complete.
        public var bodyLength: Int64 = 0
        /// The store's hint for opening the body, from the lookup. It is not a part of the response.
        package var hint: StoreHint?

        /// Creates a head with a new `id`.
        public init(
            key: HTTPCache.Entry.Key, status: HTTPStatus = .ok, headers: HTTPHeaders = [:],
            version: HTTPVersion = .http1_1,
            requestTime: Date, responseTime: Date, tags: Set<String> = []
        ) {
            self.init(
                id: HTTPCache.Entry.ID(), key: key, status: status, headers: headers, version: version,
                requestTime: requestTime, responseTime: responseTime, tags: tags)
        }

        init(
            id: HTTPCache.Entry.ID, key: HTTPCache.Entry.Key, status: HTTPStatus, headers: HTTPHeaders,
            version: HTTPVersion,
            requestTime: Date, responseTime: Date, tags: Set<String>
        ) {
            self.id = id
            self.key = key
            self.status = status
            self.headers = headers
            self.version = version
            self.requestTime = requestTime
            self.responseTime = responseTime
            self.tags = tags
            key.secrets.declare(in: &self.headers)
        }
    }
}

/// A hint from a lookup that lets a store open the body without a second lookup.
package struct StoreHint: Sendable {
    /// The position of the entry, or another value with which the store checks whether the entry still exists.
    package let mark: Int
    /// The body, if it was small and read together with the head.
    package let bytes: Data?

    package init(mark: Int, bytes: Data? = nil) {
        self.mark = mark
        self.bytes = bytes
    }
}

extension HTTPCache.Entry {
    /// The identifier of an entry: 63 random bits, so that several processes can create identifiers independently.
    public struct ID: Hashable, Sendable {
        /// The identifier as a number. New identifiers are never negative.
        public let number: Int64

        /// Creates a new random identifier.
        public init() {
            number = .random(in: 0 ... .max)
        }

        /// Creates an identifier from the `number` of an existing one.
        public init(_ number: Int64) {
            self.number = number
        }
    }

    /// Returns whether both values are the same entry with the same head.
    public static func == (left: HTTPCache.Entry, right: HTTPCache.Entry) -> Bool {
        left.id == right.id && left.key == right.key && left.variant == right.variant && left.status == right.status
            && left.version == right.version && left.requestTime == right.requestTime
            && left.responseTime == right.responseTime && left.tags == right.tags
            && left.bodyLength == right.bodyLength && left.headers == right.headers
    }

    /// Hashes only the `id`.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(id)
    }
}

extension HTTPCache.Entry: CustomStringConvertible, CustomReflectable {
    /// The status, the key and the length of the body: `200 OK for https://…, 12 bytes`. Secret values of the URL are
    /// redacted: those that Curlew knows, and those that were declared when the response was stored.
    public var description: String {
        "\(status) for \(key), \(bodyLength) bytes"
    }

    /// A mirror that shows the description, the fields and the number of tags, so that a dump contains no secret.
    public var customMirror: Mirror {
        Mirror(self, children: ["description": description, "headers": headers, "tags": tags.count])
    }
}

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
        /// the body and its type, coding and language, such as `QUERY 9f86d0…`. Nil for GET and HEAD without a body. If
        /// the call skips content decoding, the value begins with `raw`, also for GET and HEAD.
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
