// SPDX-License-Identifier: MIT

public import CurlewHTTP

extension Interceptor where Self == LoggingInterceptor {
    /// Logs two lines for each call or, with `each: .sending`, for each request on the wire, with secrets redacted. See
    /// `LoggingInterceptor`.
    public static func logging(
        _ level: LoggingInterceptor.Level = .line, each unit: LoggingInterceptor.Unit = .call,
        redaction: Redaction = .standard, bodyLimit: Int = 4096,
        sink: @escaping @Sendable (LoggingInterceptor.Entry) -> Void = LoggingInterceptor.standardError
    ) -> LoggingInterceptor {
        LoggingInterceptor(level, each: unit, redaction: redaction, bodyLimit: bodyLimit, sink: sink)
    }
}

extension Interceptor where Self == RedirectInterceptor {
    /// Follows redirects: `.redirects()`, `.redirects(.sameOrigin)`. See `RedirectPolicy` for the rules.
    public static func redirects(_ policy: RedirectPolicy = .standard) -> RedirectInterceptor {
        RedirectInterceptor(policy)
    }
}

extension Interceptor where Self == RetryInterceptor {
    /// Retries transient failures: `.retry()`, `.retry(.attempts(5))`. See `RetryPolicy` for the rules.
    ///
    /// - `budget`: the budget that retries draw on. The default is the budget of the pipeline, or a separate one.
    /// - `when`: an app-defined rule for each outcome. See `RetryVerdict`.
    /// - `onRetry`: changes the request before each further attempt. See `RetryInterceptor`.
    public static func retry(
        _ policy: RetryPolicy = .standard, budget: RetryBudget? = nil,
        when: (@Sendable (AttemptResult) -> RetryVerdict)? = nil,
        onRetry: (@Sendable (inout HTTPRequest, AttemptResult) async throws -> Void)? = nil
    ) -> RetryInterceptor {
        RetryInterceptor(policy, budget: budget, when: when, onRetry: onRetry)
    }
}

extension Interceptor where Self == CookieInterceptor {
    /// Stores cookies in `store` and sends them. The default is a new in-memory store that the client shares with the
    /// clients derived from it.
    public static func cookies(_ store: CookieStore = CookieStore()) -> CookieInterceptor {
        CookieInterceptor(store)
    }
}

extension Interceptor where Self == CoalescingInterceptor {
    /// Shares one exchange among identical safe requests that are in flight at the same time. See
    /// `CoalescingInterceptor`.
    public static func coalescing(ignoring fields: Set<HTTPField.Name> = []) -> CoalescingInterceptor {
        CoalescingInterceptor(ignoring: fields)
    }
}

extension Interceptor where Self == AttemptTimeoutInterceptor {
    /// Limits the time that each attempt may wait for its response head. See `AttemptTimeoutInterceptor`.
    public static func attemptTimeout(_ limit: Duration) -> AttemptTimeoutInterceptor {
        AttemptTimeoutInterceptor(limit)
    }
}

extension Interceptor where Self == BearerInterceptor {
    /// Attaches a bearer token to requests for the origin of the client's base URL. See `BearerInterceptor`.
    public static func bearer(
        _ token: @escaping @Sendable () async throws -> String?, principal: (@Sendable () -> String?)? = nil
    ) -> BearerInterceptor {
        BearerInterceptor(token: token, principal: principal)
    }

    /// Attaches a bearer token to requests for the origin of `url`.
    public static func bearer(
        for url: String, _ token: @escaping @Sendable () async throws -> String?,
        principal: (@Sendable () -> String?)? = nil
    ) -> BearerInterceptor {
        BearerInterceptor(for: url, token: token, principal: principal)
    }

    /// Attaches a bearer token to requests for `origin`.
    public static func bearer(
        for origin: Origin, _ token: @escaping @Sendable () async throws -> String?,
        principal: (@Sendable () -> String?)? = nil
    ) -> BearerInterceptor {
        BearerInterceptor(for: origin, token: token, principal: principal)
    }
}

extension Interceptor where Self == RequestHook {
    /// Changes each request: `.onRequest { request, context in request.headers["X-Tenant"] = "acme" }`.
    ///
    /// - `changesWhoseAnswer`: pass false if no response depends on what the closure changes, so that caches work
    ///   around it.
    public static func onRequest(
        at placement: Placement = .custom, changesWhoseAnswer: Bool = true,
        _ body: @escaping @Sendable (inout HTTPRequest, ExchangeContext) async throws -> Void
    ) -> RequestHook {
        RequestHook(at: placement, changesWhoseAnswer: changesWhoseAnswer, body)
    }

    /// Changes the requests for the origin of `url` only:
    /// `.onRequest(for: "https://cdn.example.com") { request, context in request.headers["X-Key"] = key }`.
    public static func onRequest(
        for url: String, at placement: Placement = .custom, changesWhoseAnswer: Bool = true,
        _ body: @escaping @Sendable (inout HTTPRequest, ExchangeContext) async throws -> Void
    ) -> RequestHook {
        RequestHook(for: url, at: placement, changesWhoseAnswer: changesWhoseAnswer, body)
    }
}

extension Interceptor where Self == ResponseHook {
    /// Inspects each response when its head arrives, whatever the status.
    public static func onResponse(
        at placement: Placement = .custom,
        _ body: @escaping @Sendable (HTTPResponse, ExchangeContext) async throws -> Void
    ) -> ResponseHook {
        ResponseHook(at: placement, body)
    }
}

extension Interceptor where Self == ErrorHook {
    /// Observes each failure that is not a response.
    public static func onError(
        at placement: Placement = .custom, _ body: @escaping @Sendable (NetworkError, ExchangeContext) async -> Void
    ) -> ErrorHook {
        ErrorHook(at: placement, body)
    }
}
