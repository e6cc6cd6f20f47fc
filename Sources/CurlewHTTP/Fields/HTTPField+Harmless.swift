// SPDX-License-Identifier: MIT

extension HTTPField.Name {
    /// Whether the request field is known to name no user and to authenticate nobody, whatever its value.
    ///
    /// The one list for two questions, and fields of any other name are treated alike in both: they make the response
    /// one party's, and they do not follow a redirect to another origin. A field that is missing here costs a cache hit
    /// or a field at another origin; a field too many hands over a response or a secret. So a field is listed only if
    /// its specification leaves no room for an identity or a credential. Names are complete, never prefixes.
    ///
    /// Not listed on purpose: `baggage` (carries user and tenant identifiers), `From`, `Referer`, `Origin`, `Host`,
    /// `Forwarded`, `Via`, `Connection` (makes proxies drop fields), `Sec-WebSocket-Protocol` (carries tokens of some
    /// services), `Last-Event-ID` (the server decides what it holds).
    package var isHarmless: Bool { Self.harmless.contains(self) }

    package static let harmless: Set<HTTPField.Name> = tracing.union([
        // Which representation is preferred (RFC 9110 §12.5, RFC 7240), and by which program.
        .accept, "Accept-Charset", .acceptEncoding, .acceptLanguage, .prefer, .userAgent,
        // Conditions and ranges: the values come from earlier responses, and the cache sends them to any origin.
        .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince, .ifRange, .range,
        // How caches are to be used (RFC 9111 §5).
        .cacheControl, .pragma,
        // What describes the body. It goes where the body goes.
        .contentType, .contentLength, .contentEncoding, .contentLanguage, .contentRange, .contentDisposition,
        "Content-MD5", "Content-Digest", "Repr-Digest", "Digest",
        // How and when the message is sent.
        .expect, .date,
        // Names an operation, not who asks for it. Without it a server could do again what a redirect brings it twice.
        .idempotencyKey,
    ])

    /// Numbers of requests and traces: new for each request, and responses do not depend on them.
    package static let tracing: Set<HTTPField.Name> = [
        .traceparent, .tracestate, "b3", "X-B3-TraceId", "X-B3-SpanId", "X-B3-ParentSpanId", "X-B3-Sampled",
        "X-B3-Flags", .xRequestID, "Request-Id", "X-Correlation-ID", "X-Amzn-Trace-Id", "X-Cloud-Trace-Context",
        "uber-trace-id", "sentry-trace",
    ]
}
