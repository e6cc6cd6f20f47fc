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

    /// Rejects calls to an origin that keeps failing, without sending them: `.circuitBreaker()`. `CircuitBreaker`
    /// documents the rules.
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

    /// Limits the number of requests in a period and queues the others: `.rateLimit(10, every: .seconds(1))`.
    /// `RateLimit` documents the rules and the parameters.
    public static func rateLimit(
        _ count: Int, every period: Duration, burst: Int? = nil, per scope: LimitScope = .origin
    ) -> BuiltInInterceptor {
        BuiltInInterceptor(RateLimitInterceptor(limit: RateLimit(count, every: period, burst: burst, per: scope)))
    }

    /// Adds `limit`, which several clients may share.
    public static func rateLimit(_ limit: RateLimit) -> BuiltInInterceptor {
        BuiltInInterceptor(RateLimitInterceptor(limit: limit))
    }

    /// Limits the number of concurrent exchanges and queues the others: `.concurrencyLimit(8)`. `ConcurrencyLimit`
    /// documents the rules and the parameters.
    public static func concurrencyLimit(
        _ permits: Int, per scope: LimitScope = .origin, waiting: Int = 1000
    ) -> BuiltInInterceptor {
        BuiltInInterceptor(ConcurrencyLimitInterceptor(limit: ConcurrencyLimit(permits, per: scope, waiting: waiting)))
    }

    /// Adds `limit`, which several clients may share.
    public static func concurrencyLimit(_ limit: ConcurrencyLimit) -> BuiltInInterceptor {
        BuiltInInterceptor(ConcurrencyLimitInterceptor(limit: limit))
    }
}

extension Pipeline {
    /// The standard pipeline plus interceptors that keep a slow or failing server from affecting calls to other
    /// servers: a circuit breaker, limits, and a timeout for each attempt.
    ///
    ///     redirects → retry → hedging → circuit breaker → rate limit → concurrency limit → attempt timeout
    ///
    /// - `attemptTimeout`: how long each attempt may wait for its response head. Default 10 s. It does not limit
    ///   bodies. `Timeouts.attempt` of a call overrides it.
    /// - `retry`: the rules for retries. Default `.standard`.
    /// - `budget`: the budget of retries and second requests, which becomes the `retryBudget` of the pipeline. Default:
    ///   a new budget for each pipeline.
    /// - `hedging`: the delay before a second request, shorter than `attemptTimeout`. Default nil: no hedging.
    /// - `circuit`: the rules by which the circuit of an origin opens. Default `.standard`. The window of the policy
    ///   must be at least twice as long as `attemptTimeout`.
    /// - `rateLimit`: the rate limit. Default nil: no limit, because only the server's operator knows a suitable one.
    /// - `concurrency`: the maximum number of concurrent exchanges with one origin; up to 1000 further exchanges wait.
    ///   Default 1000.
    ///
    /// Every call of a client with an invalid combination throws `.configuration`, as with any pipeline. Each call of
    /// this function creates a pipeline with its own state.
    public static func resilient(
        attemptTimeout: Duration = .seconds(10), retry: RetryPolicy = .standard, hedging: Duration? = nil,
        circuit: CircuitBreaker.Policy = .standard, rateLimit: RateLimit? = nil, concurrency: Int = 1000,
        budget: RetryBudget = RetryBudget()
    ) -> Pipeline {
        var pipeline: Pipeline = [
            .redirects(), .retry(retry, budget: budget), .circuitBreaker(circuit), .concurrencyLimit(concurrency),
            .attemptTimeout(attemptTimeout),
        ]
        if let hedging { pipeline = pipeline.adding(.hedging(after: hedging, budget: budget)) }
        if let rateLimit { pipeline = pipeline.adding(.rateLimit(rateLimit)) }
        return pipeline
    }
}

extension NetworkError.Policy {
    /// The circuit breaker refused the call: the circuit is open, or half-open with a trial in flight. `retryAfter` is
    /// the time until the next trial is allowed.
    public static let circuitBreaker = {
        var policy = NetworkError.Policy(
            "circuitBreaker", message: "The service is not available right now.", mayPass: true)
        policy.isOfServer = true
        return policy
    }()
    /// The rate limit refused the call: no token becomes available before the deadline, the server's quota is exhausted
    /// until after the deadline, or too many calls already wait.
    public static let rateLimit = NetworkError.Policy(
        "rateLimit", message: "There were too many requests.", mayPass: true)
    /// The concurrency limit refused the call: too many calls already wait for a permit. A call whose deadline passes
    /// in the queue fails with `.timedOut(.queue)` instead.
    public static let concurrencyLimit = NetworkError.Policy(
        "concurrencyLimit", message: "There were too many requests.", mayPass: true)
}
