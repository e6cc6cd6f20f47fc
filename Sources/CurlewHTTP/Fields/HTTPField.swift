// SPDX-License-Identifier: MIT

/// A header or trailer field: a name and a value.
///
/// Creating a field does not validate it. ``HTTPHeaders`` validates every field that is added to it.
public struct HTTPField: Hashable, Sendable {
    /// The name of the field, compared without regard to case.
    public let name: Name
    /// The value of the field, as sent on the wire.
    public let value: String
    /// Whether the headers that contained the field declare it as a secret; nil if the name decides.
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

    /// Returns whether the names and the values are equal. Declarations as secret or not secret are ignored, because
    /// they affect only descriptions.
    public static func == (left: HTTPField, right: HTTPField) -> Bool {
        left.name == right.name && left.value == right.value
    }

    /// Hashes the name and the value, as `==` compares them.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(value)
    }

    /// A field name, which keeps its spelling. Names are compared without regard to ASCII case (RFC 9110 §5.1).
    public struct Name: Sendable {
        /// The name as written. HTTP/1.1 sends this spelling.
        public let text: String

        /// Creates a name from any text. ``HTTPHeaders`` rejects a name that is not a token.
        public init(_ text: String) {
            self.text = text
        }

        /// Whether the name is a token (RFC 9110 §5.6.2).
        public var isValid: Bool { ASCII.isToken(text) }

        /// Whether the name is that of a secret: descriptions omit the value, unless the field is declared as harmless.
        ///
        /// True for Authorization, Proxy-Authorization, Cookie and Set-Cookie, for names with a word such as `token`,
        /// `secret`, `password`, `key`, `session` or `signature`, and for names that services use to identify users,
        /// such as `X-User-ID`. Other words can make a name ordinary: `Idempotency-Key` is not sensitive.
        public var isSensitive: Bool {
            isCredential || SecretName.isSecret(text.utf8, in: .field)
        }

        /// Whether the field always contains a credential, so that no declaration can make it public.
        package var isCredential: Bool {
            Self.sensitive.contains { ASCII.equalIgnoringCase($0, text) }
        }

        /// Returns whether descriptions must omit the value. A credential is always a secret.
        ///
        /// - `declared`: true for a declared secret, false for a declared non-secret, nil for neither.
        func isSecret(declared: Bool?) -> Bool {
            isCredential || declared ?? isSensitive
        }

        static let sensitive = [
            "Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "X-API-Key", "API-Key", "X-Auth-Token",
            "X-Access-Token", "X-CSRF-Token", "X-XSRF-Token", "X-Amz-Security-Token", "Authentication-Info",
            "Proxy-Authentication-Info",
        ]
    }
}

extension HTTPField: MirroredByDescription {
    /// The field as "Name: value". A secret value is redacted. In fields that contain URLs, such as Location, the user
    /// information, query and fragment are redacted.
    public var description: String {
        if name.isSecret(declared: isDeclaredSecret) { return "\(name): \(Self.mark)" }
        let holdsURL = Redaction.urlHeaders.contains(name) || Redaction.mayHoldURL(value)
        return "\(name): \(holdsURL ? Redaction.standard.url(withoutSecrets) : value)"
    }

    private static let mark = "<redacted>"

    /// The value with the query, the fragment and the user information of its URL redacted.
    private var withoutSecrets: String {
        let end = value.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
        let path = value.utf8[..<(end ?? value.utf8.endIndex)]
        let shown = path.lastIndex(of: UInt8(ascii: "@")).map { Self.mark + String(Substring(path[$0...])) }
        return (shown ?? String(Substring(path))) + (end == nil ? "" : Self.mark)
    }
}

extension HTTPField.Name: Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// Returns whether the names are equal, ignoring the case of A–Z.
    public static func == (left: HTTPField.Name, right: HTTPField.Name) -> Bool {
        ASCII.equalIgnoringCase(left.text, right.text)
    }

    /// Hashes the name without regard to ASCII case, as `==` compares it, eight bytes at a time.
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

    /// Creates a name from a string literal.
    public init(stringLiteral value: String) {
        self.init(value)
    }

    /// The name as written.
    public var description: String { text }
}

extension HTTPField.Name {
    /// Whether the request field is known to carry no user identity and no credential, whatever its value.
    ///
    /// Fields that are not in this list make a stored response private to a principal, and are removed when a redirect
    /// leads to another origin. A missing entry costs a cache hit, or removes a field that the other origin could have
    /// received. A wrong entry exposes a response or a secret. A field is therefore listed only if its specification
    /// leaves no room for an identity or a credential. Entries are complete names, not prefixes.
    ///
    /// Deliberately not listed: `baggage` (carries user and tenant identifiers), `From`, `Referer`, `Origin`, `Host`,
    /// `Forwarded`, `Via`, `Connection` (makes proxies drop fields), `Sec-WebSocket-Protocol` (carries tokens of some
    /// services), `Last-Event-ID` (the server chooses its content).
    package var isHarmless: Bool { Self.harmless.contains(self) }

    static let harmless: Set<HTTPField.Name> = tracing.union([
        // The preferred representation (RFC 9110 §12.5, RFC 7240) and the client's software.
        .accept, "Accept-Charset", .acceptEncoding, .acceptLanguage, "Prefer", .userAgent,
        // Conditions and ranges. Their values come from earlier responses, and the cache sends them to any origin.
        .ifMatch, .ifNoneMatch, .ifModifiedSince, "If-Unmodified-Since", "If-Range", .range,
        // Cache directives (RFC 9111 §5).
        .cacheControl, "Pragma",
        // Metadata of the body, which is sent wherever the body is sent.
        .contentType, .contentLength, .contentEncoding, "Content-Language", .contentRange, .contentDisposition,
        "Content-MD5", "Content-Digest", "Repr-Digest", "Digest",
        // How and when the message is sent.
        "Expect", .date,
        // Identifies an operation, not a user. Without it, a server could repeat an operation when a redirect delivers
        // the request twice.
        .idempotencyKey,
    ])

    /// The fields that identify a request or a trace. Their values differ for each request, and responses do not depend
    /// on them.
    package static let tracing: Set<HTTPField.Name> = [
        "Traceparent", "Tracestate", "b3", "X-B3-TraceId", "X-B3-SpanId", "X-B3-ParentSpanId", "X-B3-Sampled",
        "X-B3-Flags", .xRequestID, "Request-Id", "X-Correlation-ID", "X-Amzn-Trace-Id", "X-Cloud-Trace-Context",
        "uber-trace-id", "sentry-trace",
    ]
}
