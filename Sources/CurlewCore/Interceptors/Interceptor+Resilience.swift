// SPDX-License-Identifier: MIT

import CurlewHTTP

extension Interceptor where Self == CircuitBreakerInterceptor {
    /// Fails calls to an origin that keeps failing: `.circuitBreaker()`. See `CircuitBreaker` for the rules.
    ///
    /// - `scope`: what shares a circuit. Default each origin.
    /// - `counts`: what the app makes of each outcome. Default nil, the rules of `CircuitBreaker`.
    public static func circuitBreaker(
        _ policy: CircuitPolicy = .standard, per scope: LimitScope = .origin,
        counts: (@Sendable (AttemptResult) -> CircuitCount)? = nil
    ) -> CircuitBreakerInterceptor {
        CircuitBreakerInterceptor(CircuitBreaker(policy, per: scope, counts: counts))
    }

    /// The same with a breaker that other clients may share, and that can be watched and reset.
    public static func circuitBreaker(_ breaker: CircuitBreaker) -> CircuitBreakerInterceptor {
        CircuitBreakerInterceptor(breaker)
    }
}

extension Interceptor where Self == RateLimitInterceptor {
    /// So many sendings in a time: `.rateLimit(10, every: .seconds(1))`. See `RateLimit` for the rules.
    public static func rateLimit(
        _ count: Int, every period: Duration, burst: Int? = nil, per scope: LimitScope = .origin
    ) -> RateLimitInterceptor {
        RateLimitInterceptor(RateLimit(count, every: period, burst: burst, per: scope))
    }

    /// The same with a limit that other clients may share.
    public static func rateLimit(_ limit: RateLimit) -> RateLimitInterceptor {
        RateLimitInterceptor(limit)
    }
}

extension Interceptor where Self == ConcurrencyLimitInterceptor {
    /// So many exchanges at a time: `.concurrencyLimit(8)`. See `ConcurrencyLimit` for the rules.
    public static func concurrencyLimit(
        _ places: Int, per scope: LimitScope = .origin, waiting: Int = 1000
    ) -> ConcurrencyLimitInterceptor {
        ConcurrencyLimitInterceptor(ConcurrencyLimit(places, per: scope, waiting: waiting))
    }

    /// As many exchanges at a time as the server does without a line of its own: `.concurrencyLimit(.adaptive)`. See
    /// `AdaptiveConcurrency` for the rules.
    public static func concurrencyLimit(
        _ adaptive: AdaptiveConcurrency, per scope: LimitScope = .origin, waiting: Int = 1000
    ) -> ConcurrencyLimitInterceptor {
        ConcurrencyLimitInterceptor(ConcurrencyLimit(adaptive, per: scope, waiting: waiting))
    }

    /// The same with a limit that other clients may share.
    public static func concurrencyLimit(_ limit: ConcurrencyLimit) -> ConcurrencyLimitInterceptor {
        ConcurrencyLimitInterceptor(limit)
    }
}

extension Interceptor where Self == HedgingInterceptor {
    /// A second sending when the first answer is late: `.hedging(after: .milliseconds(300))`. See `HedgingInterceptor` for
    /// the rules.
    ///
    /// - `percentile`: measures the delay, such as 0.95. Default nil, the delay stays as it is.
    /// - `budget`: default that of `.retry()` in the pipeline.
    /// - `when`: which calls may be hedged. Default all that may happen twice.
    public static func hedging(
        after delay: Duration, percentile: Double? = nil, budget: RetryBudget? = nil,
        when: (@Sendable (HTTPRequest, ExchangeContext) -> Bool)? = nil
    ) -> HedgingInterceptor {
        HedgingInterceptor(after: delay, percentile: percentile, budget: budget, when: when)
    }
}
