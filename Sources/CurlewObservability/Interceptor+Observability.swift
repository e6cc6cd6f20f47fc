// SPDX-License-Identifier: MIT

public import CurlewCore
public import CurlewHTTP

extension Interceptor where Self == BuiltInInterceptor {
    /// Logs each call in two lines, with a line for each retry, redirect and refresh of tokens between them, or, with
    /// `each: .request`, each request on the wire. Secrets are redacted.
    ///
    ///     → #12 GET https://api.example.com/users/1 (GetUser)
    ///     · #12 attempt 1: status 503 after 9 ms; retried in 10 ms, because the failure may be temporary
    ///     ← #12 200 OK in 34 ms, 512 bytes, 2 attempts
    ///
    /// - `each: .call`, the default, is the outermost interceptor and logs the call as its caller sees it, with the time
    ///   until the response head arrives. The end of the last line shows whether the call took more than one attempt,
    ///   and whether its response is from a cache.
    /// - `each: .request` is the innermost interceptor and logs each request as it is sent, with its credentials
    ///   redacted. For a further attempt, it also logs the cause.
    ///
    /// A pipeline may contain one of each.
    ///
    /// The log never reads a streamed body, and changes neither the request nor the response. With `each: .call`, calls
    /// that refresh tokens for a client are also logged.
    ///
    /// - `level`: how much of a call or request is logged. Default `.line`.
    /// - `unit`: whether calls or requests are logged. This also determines the position in the pipeline. Default
    ///   `.call`.
    /// - `redaction`: the secrets to redact, in addition to those that the client and its interceptors declare. Default
    ///   `.standard`. URLs are always redacted with `.standard` in addition.
    /// - `bodyLimit`: the maximum number of bytes of a body that are logged. Default 4 KiB.
    /// - `sink`: receives each entry. For requests, responses and failures it runs on the task of the call, and the call
    ///   waits until it returns. For notes it runs on the thread of the decision, so it must return soon. The entries of
    ///   a call arrive in order. Default `LogEntry.standardError`.
    public static func logging(
        _ level: LogEntry.Level = .line, each unit: LogEntry.Unit = .call,
        redaction: Redaction = .standard, bodyLimit: Int = 4096,
        sink: @escaping @Sendable (LogEntry) -> Void = LogEntry.standardError
    ) -> BuiltInInterceptor {
        BuiltInInterceptor(
            LoggingInterceptor(level, each: unit, redaction: redaction, bodyLimit: bodyLimit, sink: sink))
    }

    /// Records the calls of the client in `recorder`: every request on the wire, its response, and the decisions of the
    /// client.
    ///
    /// The interceptor is the innermost one and changes neither the request nor the response. If the recorder keeps
    /// bodies, a streamed response body is copied while it is read, up to the limit of the recorder: its chunks,
    /// back-pressure, errors and cancellation are unchanged.
    ///
    /// - `recorder`: receives the recording. Several clients may share one.
    public static func recording(_ recorder: FlightRecorder) -> BuiltInInterceptor {
        BuiltInInterceptor(RecordingInterceptor(recorder: recorder))
    }

    /// Traces calls by W3C Trace Context: `exporter` receives a span for each call and for each request on the wire, and
    /// each request carries `traceparent`.
    ///
    ///     .standard.adding(.tracing(to: exporter))
    ///
    /// The parameters are those of `CallTracer`, which documents the spans. To read the counts of the tracer or to share
    /// it between clients, create it and pass it to `.tracing(_:)`.
    public static func tracing(
        to exporter: any TraceSpanExporter, options: CallTracer.Options = CallTracer.Options()
    ) -> BuiltInInterceptor {
        tracing(CallTracer(exporter: exporter, options: options))
    }

    /// Traces calls with `tracer`.
    ///
    /// A call continues the trace of its request, if that has a valid field `traceparent`; otherwise that of
    /// `CallTracer.Options.parent`, that of `TraceContext.current`, or a new one. The interceptor replaces the field.
    ///
    /// The interceptor is placed at `.compression`: after authentication, so that every request on the wire has its own
    /// context, and before signing, so that signatures cover the fields. A pipeline may contain one. It never affects
    /// which response a cache returns. It never throws.
    public static func tracing(_ tracer: CallTracer) -> BuiltInInterceptor {
        BuiltInInterceptor(TracingInterceptor(tracer: tracer))
    }
}

// The interceptor attaches no credential.
extension LoggingInterceptor: ScopedInterceptor {}
