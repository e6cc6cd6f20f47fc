// SPDX-License-Identifier: MIT

#if SwiftDistributedTracing
public import Curlew
public import CurlewTracing
public import Tracing

/// Creates a client span of the installed tracer for each request on the wire, and writes its context into the fields
/// of the request.
///
///     let client = APIClient(
///         baseURL: "https://api.example.com", pipeline: .standard.adding(DistributedTracingInterceptor()))
///
/// - The parent is the `ServiceContext` of the task that makes the call. Every attempt and every redirect has a span of
///   its own. A response from a cache has none.
/// - The name is the method and the route. The attributes are those of OpenTelemetry's conventions for HTTP clients:
///   `http.request.method`, `url.full`, `server.address`, `server.port`, `http.response.status_code`, `error.type`,
///   `http.request.resend_count` and `network.protocol.version`. Secrets in the URL are redacted.
/// - A status of 400 or more and a failure are errors of the span. A failure is also recorded as an error.
/// - The span ends when the response head has arrived; a streamed body may still arrive then.
/// - After a redirect to another origin nothing is written, unless `redirectOrigins` has that origin: the fields let it
///   correlate requests, and `tracestate` may identify customers.
///
/// The interceptor runs after authentication and before signing, and does not affect what caches and coalescing share.
public struct DistributedTracingInterceptor: Interceptor {
    private let tracer: (any Tracer)?
    private let redirectOrigins: Set<Origin>
    private let redaction: Redaction

    /// Creates an interceptor.
    ///
    /// - `tracer`: the tracer. Default nil: that of `InstrumentationSystem` at the time of each request, with all of its
    ///   other instruments, which may write fields, too.
    /// - `redirectOrigins`: the other origins that receive the context after a redirect. Default none.
    /// - `redaction`: the secrets to redact in URLs, in addition to those that the client and its interceptors declare.
    ///   Default `.standard`.
    public init(
        tracer: (any Tracer)? = nil, redirectOrigins: Set<Origin> = [], redaction: Redaction = .standard
    ) {
        self.tracer = tracer
        self.redirectOrigins = redirectOrigins
        self.redaction = redaction
    }

    /// The placement is `.fields`. The fields may be sent to other origins, which this interceptor decides itself.
    public var traits: InterceptorTraits {
        InterceptorTraits(placement: .fields, scope: .unrestricted, runsInPreview: false) { _, _ in .anonymous }
    }

    /// Sends the request within a span.
    public func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        let span = startSpan(request, in: next.context)
        defer { span.end() }
        var request = request
        if !next.context.crossedOrigin || redirectOrigins.contains(request.origin) {
            let instrument: any Instrument = tracer ?? InstrumentationSystem.instrument
            instrument.inject(span.context, into: &request.headers, using: FieldInjector())
        }
        do {
            let response = try await ServiceContext.$current.withValue(span.context) { [request] in
                try await next(request)
            }
            span.record(response)
            return response
        } catch {
            span.record(NetworkError(error))
            throw error
        }
    }

    private func startSpan(_ request: HTTPRequest, in context: ExchangeContext) -> any Span {
        let isKnown = CallTracer.Options.standardMethods.contains(request.method)
        let method = isKnown ? request.method.rawValue : "HTTP"
        let name = context.routeName.isEmpty ? method : "\(method) \(context.routeName)"
        let tracer = tracer ?? InstrumentationSystem.tracer
        let span: any Span = tracer.startSpan(name, ofKind: .client)
        guard span.isRecording else { return span }
        let host = request.origin.host
        var attributes = SpanAttributes([
            "http.request.method": .string(isKnown ? method : "_OTHER"),
            "url.full": .string(redaction.url(NetworkError.RequestLine(request).url)),
            "server.address": .string(
                host.utf8.first == UInt8(ascii: "[") ? String(host.dropFirst().dropLast()) : host),
            "server.port": .int64(Int64(request.origin.port)),
        ])
        if !isKnown { attributes.set("http.request.method_original", value: .string(request.method.rawValue)) }
        if context.attempt > 1 {
            attributes.set("http.request.resend_count", value: .int64(Int64(context.attempt - 1)))
        }
        span.attributes.merge(attributes)
        return span
    }
}

extension Span {
    fileprivate func record(_ response: HTTPResponse) {
        let version = response.version
        let isWhole = version.major >= 2 && version.minor == 0
        var attributes = SpanAttributes([
            "http.response.status_code": .int64(Int64(response.status.code)),
            "network.protocol.version": .string(
                isWhole ? "\(version.major)" : "\(version.major).\(version.minor)"),
        ])
        if response.status.code >= 400 {
            attributes.set("error.type", value: .string("\(response.status.code)"))
            setStatus(SpanStatus(code: .error))
        }
        self.attributes.merge(attributes)
    }

    /// The description of a `NetworkError` is redacted, so a tracer may show it.
    fileprivate func record(_ error: NetworkError) {
        attributes.merge(SpanAttributes(["error.type": .string(MetricsRegistry.name(of: error.reason))]))
        setStatus(SpanStatus(code: .error, message: error.label))
        recordError(error)
    }
}

extension TraceContext {
    /// The context that the installed tracer would send for the current span; nil if it has none. It makes the calls of
    /// `CurlewTracing` children of that span: `CallTracer.Options(parent: { .ofCurrentSpan() })`.
    public static func ofCurrentSpan() -> TraceContext? {
        guard let context = ServiceContext.current else { return nil }
        var fields = HTTPHeaders()
        InstrumentationSystem.instrument.inject(context, into: &fields, using: FieldInjector())
        return TraceContext(headers: fields)
    }
}

/// Writes what an instrument wants to send, such as `traceparent` (W3C Trace Context).
private struct FieldInjector: Injector {
    func inject(_ value: String, forKey key: String, into headers: inout HTTPHeaders) {
        headers[HTTPField.Name(key)] = value
    }
}
#endif
