// SPDX-License-Identifier: MIT

public import CurlewCore
public import CurlewHTTP

extension Interceptor where Self == BuiltInInterceptor {
    /// Logs two lines for each call or, with `each: .request`, for each request on the wire, with secrets redacted.
    ///
    ///     → #12 GET https://api.example.com/users/1 (GetUser)
    ///     ← #12 200 OK in 34 ms, 512 bytes
    ///
    /// - `each: .call`, the default, is the outermost interceptor and logs the call as its caller sees it: two lines,
    ///   regardless of retries and redirects, and the time until the response head arrives. The end of the second line
    ///   shows whether the call took more than one attempt, and whether its response is from a cache.
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
    /// - `sink`: receives each entry. It runs on the task of the call, and the call waits until it returns. Default
    ///   `LogEntry.standardError`.
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
}

// The interceptor attaches no credential.
extension LoggingInterceptor: ScopedInterceptor {}
