// SPDX-License-Identifier: MIT

import CurlewHTTP

extension Interceptor where Self == CircuitBreakerInterceptor {
    /// Fails calls to an origin that keeps failing, without sending them: `.circuitBreaker()`. See `CircuitBreaker` for
    /// the rules.
    ///
    /// - `scope`: the calls that share a circuit. Default each origin.
    /// - `counts`: an app-defined rule that classifies each outcome. Default nil, the rules of `CircuitBreaker`.
    public static func circuitBreaker(
        _ policy: CircuitPolicy = .standard, per scope: LimitScope = .origin,
        counts: (@Sendable (AttemptResult) -> CircuitCount)? = nil
    ) -> CircuitBreakerInterceptor {
        CircuitBreakerInterceptor(CircuitBreaker(policy, per: scope, counts: counts))
    }

    /// Uses `breaker`, which other clients may share, and which the app can observe and reset.
    public static func circuitBreaker(_ breaker: CircuitBreaker) -> CircuitBreakerInterceptor {
        CircuitBreakerInterceptor(breaker)
    }
}

extension Interceptor where Self == RateLimitInterceptor {
    /// Limits the number of requests in a period: `.rateLimit(10, every: .seconds(1))`. See `RateLimit` for the rules.
    public static func rateLimit(
        _ count: Int, every period: Duration, burst: Int? = nil, per scope: LimitScope = .origin
    ) -> RateLimitInterceptor {
        RateLimitInterceptor(RateLimit(count, every: period, burst: burst, per: scope))
    }

    /// Uses `limit`, which other clients may share.
    public static func rateLimit(_ limit: RateLimit) -> RateLimitInterceptor {
        RateLimitInterceptor(limit)
    }
}

extension Interceptor where Self == ConcurrencyLimitInterceptor {
    /// Limits the number of concurrent exchanges: `.concurrencyLimit(8)`. See `ConcurrencyLimit` for the rules.
    public static func concurrencyLimit(
        _ places: Int, per scope: LimitScope = .origin, waiting: Int = 1000
    ) -> ConcurrencyLimitInterceptor {
        ConcurrencyLimitInterceptor(ConcurrencyLimit(places, per: scope, waiting: waiting))
    }

    /// Limits concurrent exchanges to the number that the server handles without queueing:
    /// `.concurrencyLimit(.adaptive)`. See `AdaptiveConcurrency` for the rules.
    public static func concurrencyLimit(
        _ adaptive: AdaptiveConcurrency, per scope: LimitScope = .origin, waiting: Int = 1000
    ) -> ConcurrencyLimitInterceptor {
        ConcurrencyLimitInterceptor(ConcurrencyLimit(adaptive, per: scope, waiting: waiting))
    }

    /// Uses `limit`, which other clients may share.
    public static func concurrencyLimit(_ limit: ConcurrencyLimit) -> ConcurrencyLimitInterceptor {
        ConcurrencyLimitInterceptor(limit)
    }
}

extension Interceptor where Self == HedgingInterceptor {
    /// Sends a request a second time when the first response is late: `.hedging(after: .milliseconds(300))`. See
    /// `HedgingInterceptor` for the rules.
    ///
    /// - `percentile`: the latency percentile that sets the delay, such as 0.95. Default nil, a fixed delay.
    /// - `budget`: the budget that hedged requests draw on. Default that of `.retry()` in the pipeline.
    /// - `when`: which calls may be hedged. Default all calls that may be sent twice.
    public static func hedging(
        after delay: Duration, percentile: Double? = nil, budget: RetryBudget? = nil,
        when: (@Sendable (HTTPRequest, ExchangeContext) -> Bool)? = nil
    ) -> HedgingInterceptor {
        HedgingInterceptor(after: delay, percentile: percentile, budget: budget, when: when)
    }
}
