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
}
