// SPDX-License-Identifier: MIT

public import CurlewCore

extension Pipeline {
    /// The standard pipeline plus interceptors that keep a slow or failing server from affecting calls to other
    /// servers: a circuit breaker, limits, and a timeout for each attempt.
    ///
    ///     redirects → retry → hedging → circuit breaker → rate limit → concurrency limit → attempt timeout
    ///
    /// - `attemptTimeout`: how long each attempt may wait for its response head. Default 10 s. It does not limit
    ///   bodies. `Timeouts.attempt` of a call overrides it.
    /// - `retry`: the rules for retries. Default `.standard`.
    /// - `budget`: the budget that retries and hedged requests draw on. Default: a new budget for each pipeline. The
    ///   budget becomes the `retryBudget` of the pipeline.
    /// - `hedging`: the delay before a second, hedged request. Default nil: no hedging.
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
