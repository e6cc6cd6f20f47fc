// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewHTTP

extension Interceptor where Self == BuiltInInterceptor {
    /// Limits the time that each attempt may wait for its response head.
    ///
    /// Each redirect and each retry begins a new attempt. The limit covers connecting and waiting for the response
    /// head; an attempt that takes longer ends with `.timedOut(.attempt)`. The limit does not apply to bodies: it is
    /// suspended while the request body makes progress, and `Timeouts.idle` applies to the response body. It therefore
    /// ends no download, upload or stream that makes progress. `Timeouts.attempt` of a call or a client overrides the
    /// limit.
    ///
    /// The call has a separate limit (`Timeouts.total`, 300 s by default). This interceptor runs no timer: the
    /// transport enforces the deadline.
    ///
    /// - `limit`: the maximum time, which must be positive. With any other value, every call throws `.configuration`.
    public static func attemptTimeout(_ limit: Duration) -> BuiltInInterceptor {
        BuiltInInterceptor(AttemptTimeoutInterceptor(limit))
    }
}

extension Interceptor where Self == BuiltInInterceptor {
    /// Rejects calls to an origin that keeps failing, without sending them: `.circuitBreaker()`.
    ///
    /// `CircuitBreaker` documents the rules.
    ///
    /// - `policy`: when circuits open, and for how long. Default `.standard`.
    /// - `scope`: the calls that share a circuit. Default: the calls to one origin.
    public static func circuitBreaker(
        _ policy: CircuitBreaker.Policy = .standard, per scope: LimitScope = .origin
    ) -> BuiltInInterceptor {
        BuiltInInterceptor(CircuitBreakerInterceptor(CircuitBreaker(policy, per: scope)))
    }

    /// Adds `breaker`, which several clients may share and whose circuits the app can inspect.
    public static func circuitBreaker(_ breaker: CircuitBreaker) -> BuiltInInterceptor {
        BuiltInInterceptor(CircuitBreakerInterceptor(breaker))
    }
}

extension Interceptor where Self == BuiltInInterceptor {
    /// Limits the number of requests in a period: `.rateLimit(10, every: .seconds(1))`.
    ///
    /// `RateLimit` documents the rules and the parameters.
    public static func rateLimit(
        _ count: Int, every period: Duration, burst: Int? = nil, per scope: LimitScope = .origin
    ) -> BuiltInInterceptor {
        BuiltInInterceptor(RateLimitInterceptor(RateLimit(count, every: period, burst: burst, per: scope)))
    }

    /// Adds `limit`, which several clients may share.
    public static func rateLimit(_ limit: RateLimit) -> BuiltInInterceptor {
        BuiltInInterceptor(RateLimitInterceptor(limit))
    }
}

extension Interceptor where Self == BuiltInInterceptor {
    /// Limits the number of concurrent exchanges: `.concurrencyLimit(8)`.
    ///
    /// `ConcurrencyLimit` documents the rules and the parameters.
    public static func concurrencyLimit(
        _ permits: Int, per scope: LimitScope = .origin, waiting: Int = 1000
    ) -> BuiltInInterceptor {
        BuiltInInterceptor(ConcurrencyLimitInterceptor(ConcurrencyLimit(permits, per: scope, waiting: waiting)))
    }

    /// Adds `limit`, which several clients may share.
    public static func concurrencyLimit(_ limit: ConcurrencyLimit) -> BuiltInInterceptor {
        BuiltInInterceptor(ConcurrencyLimitInterceptor(limit))
    }
}

extension Interceptor where Self == BuiltInInterceptor {
    /// Sends a request a second time when the first response is late: `.hedging(after: .milliseconds(300))`.
    ///
    /// Hedging shortens the slowest calls where one of many servers is occasionally slow, at the cost of a few more
    /// requests. Choose a delay within which 95 % of the responses arrive.
    ///
    /// Guarantees:
    /// - A request is hedged only if it may be sent twice (`ExchangeContext.mayRepeat`) and its body can be produced
    ///   again. It is never sent three times. `when` can only exclude calls.
    /// - The second request is sent after `delay` if the first has not ended by then. `.retry()` handles failed
    ///   requests. The second request draws on `budget`, and is not sent if the budget has too few tokens.
    /// - The first response that is not a failure wins. Failures are errors and the statuses 408, 429, 500, 502, 503
    ///   and 504. The other request is cancelled and its response discarded. The call returns when both requests have
    ///   ended. A transport must end a cancelled request immediately, so this is no additional wait.
    /// - When both requests fail, the call ends with the later failure, or with the earlier one if a policy refused the
    ///   later request.
    ///
    /// No default pipeline includes hedging. It is placed after `.retry()`, which sees one attempt with a note about
    /// the second request, and before the circuit breaker and the limits, which see each request.
    ///
    /// - `delay`: the wait before the second request, not negative. Zero sends both requests immediately.
    /// - `budget`: the budget that second requests draw on. Default nil: the budget of `.retry()` in the same pipeline,
    ///   so that retries and second requests share one budget. Without `.retry()`, a separate budget.
    /// - `when`: selects the calls that are hedged among those that may be sent twice. Default nil: all of them.
    public static func hedging(
        after delay: Duration, budget: RetryBudget? = nil,
        when: (@Sendable (HTTPRequest, ExchangeContext) -> Bool)? = nil
    ) -> BuiltInInterceptor {
        BuiltInInterceptor(HedgingInterceptor(after: delay, budget: budget, when: when))
    }
}
