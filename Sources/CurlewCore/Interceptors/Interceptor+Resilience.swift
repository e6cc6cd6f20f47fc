// SPDX-License-Identifier: MIT

extension Interceptor where Self == CircuitBreakerInterceptor {
    /// Fails calls to an origin that keeps failing: `.circuitBreaker()`. See `CircuitBreaker` for the rules.
    public static func circuitBreaker(_ policy: CircuitPolicy = .standard) -> CircuitBreakerInterceptor {
        CircuitBreakerInterceptor(CircuitBreaker(policy))
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

    /// The same with a limit that other clients may share.
    public static func concurrencyLimit(_ limit: ConcurrencyLimit) -> ConcurrencyLimitInterceptor {
        ConcurrencyLimitInterceptor(limit)
    }
}

extension Interceptor where Self == HedgingInterceptor {
    /// A second sending when the first answer is late: `.hedging(after: .milliseconds(300), budget: budget)`, with the
    /// budget of `.retry(_:budget:)`. See `HedgingInterceptor` for the rules.
    public static func hedging(after delay: Duration, budget: RetryBudget) -> HedgingInterceptor {
        HedgingInterceptor(after: delay, budget: budget)
    }
}
