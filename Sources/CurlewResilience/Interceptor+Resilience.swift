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
        // Previews run the interceptor too, because the deadline of the attempt holds for them.
        var traits = InterceptorTraits(.attemptTimeout, runsInPreview: true)
        traits.uniqueKind = ("attempt timeouts", "only the shortest has an effect")
        traits.attemptTimeout = limit
        // A limit longer than the total timeout is allowed, because timeouts differ between calls.
        if limit <= .zero {
            traits.problem = { _ in
                "The attempt timeout is \(limit.brief), so no attempt can succeed. Make it longer."
            }
        }
        return BuiltInInterceptor("AttemptTimeout(\(limit.brief))", traits) { request, next in
            var context = next.context
            let limit = context.timeouts.attempt ?? limit
            context.attemptDeadline = context.attemptDeadline.earlier(
                SystemTime.Deadline(limit, after: context.time.now))
            return try await next(request, context: context)
        }
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
