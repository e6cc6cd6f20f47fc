// SPDX-License-Identifier: MIT

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

    package static let harmless: Set<HTTPField.Name> = tracing.union([
        // The preferred representation (RFC 9110 §12.5, RFC 7240) and the client's software.
        .accept, "Accept-Charset", .acceptEncoding, .acceptLanguage, "Prefer", .userAgent,
        // Conditions and ranges. Their values come from earlier responses, and the cache sends them to any origin.
        .ifMatch, .ifNoneMatch, .ifModifiedSince, "If-Unmodified-Since", .ifRange, .range,
        // Cache directives (RFC 9111 §5).
        .cacheControl, "Pragma",
        // Metadata of the body, which is sent wherever the body is sent.
        .contentType, .contentLength, .contentEncoding, "Content-Language", .contentRange, .contentDisposition,
        "Content-MD5", "Content-Digest", "Repr-Digest", "Digest",
        // How and when the message is sent.
        .expect, .date,
        // Identifies an operation, not a user. Without it, a server could repeat an operation when a redirect delivers
        // the request twice.
        .idempotencyKey,
    ])

    /// The fields that identify a request or a trace. Their values differ for each request, and responses do not depend
    /// on them.
    package static let tracing: Set<HTTPField.Name> = [
        .traceparent, "Tracestate", "b3", "X-B3-TraceId", "X-B3-SpanId", "X-B3-ParentSpanId", "X-B3-Sampled",
        "X-B3-Flags", .xRequestID, "Request-Id", "X-Correlation-ID", "X-Amzn-Trace-Id", "X-Cloud-Trace-Context",
        "uber-trace-id", "sentry-trace",
    ]
}
