// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewHTTP

extension Interceptor where Self == BuiltInInterceptor {
    /// Retries transient failures: `.retry()`, `.retry(.attempts(5))`. See `RetryPolicy` for the rules. It is part of
    /// `Pipeline.standard`.
    ///
    /// - The interceptors further in run once for each attempt, with `context.attempt` and `context.pastAttempts`. An
    ///   attempt ends when the response head arrives. A body that fails later throws an error to its reader.
    /// - Each counted retry draws on the `RetryBudget`. Without tokens, the caller receives the response or error at
    ///   hand. Successes return tokens.
    /// - The body of a response that is not the last is cancelled before the wait. If the body arrived with the
    ///   response head, the connection stays in use.
    /// - All attempts and waits share the total deadline of the call. Cancellation ends a wait immediately.
    /// - `when:` is an app-defined rule for each outcome: see `RetryPolicy.Verdict`. It receives the request, the
    ///   status, the fields, small bodies and the number of the attempt (`AttemptResult`), so an app can retry errors
    ///   in a response with status 200.
    /// - `onRetry:` changes the request before its next attempt, for example the host or a key. It runs before the wait
    ///   and before the budget is charged, and not for the first attempt. An error that it throws ends the call. If it
    ///   changes the origin, the request is sent without the earlier fields that are not known to be harmless (the
    ///   rules of `.redirects()`), and never from https to http. Interceptors further in attach what belongs to the new
    ///   origin. The first attempt at another origin draws on no budget. The response from another origin has
    ///   `no-store` and no cookies, since interceptors further out attribute it to the origin of the call. An `onRetry`
    ///   may change which principal the response belongs to, so it disables caches and coalescing for the client,
    ///   unless it is added with `changesPrincipal: false`.
    /// - `attempts` of the response or error contains the history. Observers are notified of each attempt that did
    ///   not simply succeed (`ExchangeEvent.tried`).
    /// - A first attempt that succeeds reads the clock once.
    ///
    /// - `budget`: the budget that retries draw on. Default nil: the budget of the pipeline, or a separate one that the
    ///   client shares with the clients derived from it.
    /// - `when`: an app-defined rule that classifies each outcome. Not called for cancellation. Default nil, the policy
    ///   alone.
    /// - `onRetry`: changes the request before each further attempt. Default nil.
    /// - `random`: returns uniformly distributed numbers in 0..<1 for the waits. Default the system's generator.
    public static func retry(
        _ policy: RetryPolicy = .standard, budget: RetryBudget? = nil,
        when: (@Sendable (AttemptResult) -> RetryPolicy.Verdict)? = nil,
        onRetry: (@Sendable (inout HTTPRequest, AttemptResult) async throws -> Void)? = nil,
        random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
    ) -> BuiltInInterceptor {
        BuiltInInterceptor(RetryInterceptor(policy, budget: budget, when: when, onRetry: onRetry, random: random))
    }
}

extension Interceptor where Self == BuiltInInterceptor {
    /// Limits the time that each attempt may wait for its response head.
    ///
    /// Each redirect and each retry begins a new attempt. The limit covers connecting and waiting for the response
    /// head; an attempt that takes longer ends with `.timedOut(.attempt)`. The limit does not cover bodies: it is
    /// suspended while the request body makes progress, and `Timeouts.idle` applies to the response body. It therefore
    /// ends no download, upload or stream that makes progress. `Timeouts.attempt` of a call or a client overrides it.
    ///
    /// The call as a whole has a separate limit (`Timeouts.total`, 300 s by default). This interceptor runs no timer:
    /// the transport enforces the deadline.
    ///
    /// - `limit`: positive. Any other limit is a problem of the pipeline: every call throws `.configuration`.
    public static func attemptTimeout(_ limit: Duration) -> BuiltInInterceptor {
        BuiltInInterceptor(AttemptTimeoutInterceptor(limit))
    }
}

extension Interceptor where Self == BuiltInInterceptor {
    /// Fails calls to an origin that keeps failing, without sending them: `.circuitBreaker()`. See `CircuitBreaker` for
    /// the rules.
    ///
    /// - `scope`: the calls that share a circuit. Default each origin.
    /// - `counts`: an app-defined rule that classifies each outcome. Default nil, the rules of `CircuitBreaker`.
    public static func circuitBreaker(
        _ policy: CircuitBreaker.Policy = .standard, per scope: LimitScope = .origin,
        counts: (@Sendable (AttemptResult) -> CircuitBreaker.Count)? = nil
    ) -> BuiltInInterceptor {
        BuiltInInterceptor(CircuitBreakerInterceptor(CircuitBreaker(policy, per: scope, counts: counts)))
    }

    /// Uses `breaker`, which other clients may share, and which the app can observe and reset.
    public static func circuitBreaker(_ breaker: CircuitBreaker) -> BuiltInInterceptor {
        BuiltInInterceptor(CircuitBreakerInterceptor(breaker))
    }
}

extension Interceptor where Self == BuiltInInterceptor {
    /// Limits the number of requests in a period: `.rateLimit(10, every: .seconds(1))`. See `RateLimit` for the rules.
    public static func rateLimit(
        _ count: Int, every period: Duration, burst: Int? = nil, per scope: LimitScope = .origin
    ) -> BuiltInInterceptor {
        BuiltInInterceptor(RateLimitInterceptor(RateLimit(count, every: period, burst: burst, per: scope)))
    }

    /// Uses `limit`, which other clients may share.
    public static func rateLimit(_ limit: RateLimit) -> BuiltInInterceptor {
        BuiltInInterceptor(RateLimitInterceptor(limit))
    }
}

extension Interceptor where Self == BuiltInInterceptor {
    /// Limits the number of concurrent exchanges: `.concurrencyLimit(8)`. See `ConcurrencyLimit` for the rules.
    public static func concurrencyLimit(
        _ permits: Int, per scope: LimitScope = .origin, waiting: Int = 1000
    ) -> BuiltInInterceptor {
        BuiltInInterceptor(ConcurrencyLimitInterceptor(ConcurrencyLimit(permits, per: scope, waiting: waiting)))
    }

    /// Limits concurrent exchanges to the number that the server handles without queueing:
    /// `.concurrencyLimit(.adaptive)`. See `ConcurrencyLimit.Adaptive` for the rules.
    public static func concurrencyLimit(
        _ adaptive: ConcurrencyLimit.Adaptive, per scope: LimitScope = .origin, waiting: Int = 1000
    ) -> BuiltInInterceptor {
        BuiltInInterceptor(ConcurrencyLimitInterceptor(ConcurrencyLimit(adaptive, per: scope, waiting: waiting)))
    }

    /// Uses `limit`, which other clients may share.
    public static func concurrencyLimit(_ limit: ConcurrencyLimit) -> BuiltInInterceptor {
        BuiltInInterceptor(ConcurrencyLimitInterceptor(limit))
    }
}

extension Interceptor where Self == BuiltInInterceptor {
    /// Sends a request a second time when the first response is late: `.hedging(after: .milliseconds(300))`.
    ///
    /// Hedging shortens the slowest calls where one of many servers is occasionally slow, at the price of a few more
    /// requests. Choose a delay within which nineteen of twenty responses arrive, or let `percentile` measure it.
    /// Guarantees:
    /// - Only a request that may be sent twice (`ExchangeContext.mayRepeat`), with a body that can be produced again,
    ///   is hedged. It is never sent three times. `when` can only exclude calls.
    /// - The second request is sent after `delay` if the first has not ended by then. Failed requests are left to
    ///   `.retry()`. The second request draws on `budget`, and is not sent when that is empty.
    /// - With a `percentile`, the delay is the time within which that share of the last 128 responses of the origin
    ///   arrived, once 20 are known; at least 1 ms. A response that lost counts with the time until the other arrived.
    ///   Only calls that may be hedged are measured; 64 origins are remembered.
    /// - The first response that is not a failure wins. The other request is cancelled and its response discarded. The
    ///   call returns when both have ended, which takes no time if the transport cancels as it must.
    /// - When both fail, the call ends with the later failure, or with the earlier one if a policy refused the later.
    ///
    /// No default pipeline includes it. It is placed after `.retry()`, which sees one attempt with a note about the
    /// second request, and before the breaker and the limits, which see each request.
    ///
    /// - `delay`: not negative; zero sends both requests immediately.
    /// - `percentile`: 0.5 ..< 1, such as 0.95. Default nil: a fixed delay.
    /// - `budget`: nil, the default, uses that of `.retry()` in the same pipeline, so that both together send no more
    ///   than one of them may. Without a retry, a separate one.
    /// - `when`: which calls may be hedged, among those that may be sent twice. Default nil, all of them.
    public static func hedging(
        after delay: Duration, percentile: Double? = nil, budget: RetryBudget? = nil,
        when: (@Sendable (HTTPRequest, ExchangeContext) -> Bool)? = nil
    ) -> BuiltInInterceptor {
        BuiltInInterceptor(HedgingInterceptor(after: delay, percentile: percentile, budget: budget, when: when))
    }
}
