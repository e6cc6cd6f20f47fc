// SPDX-License-Identifier: MIT

extension Pipeline {
    /// What a client has when it names no pipeline.
    ///
    /// - `.redirects()`: follows redirects, at most 20, by the rules of `RedirectPolicy`.
    /// - `.retry()`: tries up to three times what may happen twice, by the rules of `RetryPolicy`, with a `RetryBudget`.
    ///
    /// Deadlines, limits and header rules, which every call has, are the engine's own. Nothing here costs anything until
    /// it acts, remembers anything of a call but that it failed, or asks for a name, a token or a file. Each use of this
    /// property gives a new budget: clients share one when they are derived from each other, or made with one pipeline.
    /// Cookies, logging and credentials are the app's choice:
    ///
    ///     Pipeline.standard.adding(.cookies()).adding(.logging()).adding(.bearer { await keychain.token() })
    ///     Pipeline.standard.replacing(.retry(.never))
    public static var standard: Pipeline { [.redirects(), .retry()] }

    /// The standard pipeline with everything that keeps one slow or failing server from harming the rest: a circuit
    /// breaker, limits, and a bound for each attempt.
    ///
    ///     redirects → retry → hedging → circuit breaker → rate limit → concurrency limit → attempt timeout
    ///
    /// - `attemptTimeout`: how long each attempt may wait for the head of its response. Default 10 s. Bodies may take longer,
    ///   and `Timeouts.attempt` of a call takes its place.
    /// - `retry`: what is tried again. Default `.standard`.
    /// - `budget`: what retries and hedging are paid from. Default one of its own, the `retryBudget` of the pipeline.
    /// - `hedging`: after which time a second sending begins; nil, the default, never.
    /// - `circuit`: when an origin is given up for a while. Default `.standard`. Its window has to be at least twice as
    ///   long as `attemptTimeout`.
    /// - `rateLimit`: default none, as only the server's operator knows it.
    /// - `concurrency`: exchanges at a time with one origin; another 1000 wait. Default 1000.
    ///
    /// Combinations that cannot work are problems of the client, as with any pipeline. Each use has state of its own.
    public static func resilient(
        attemptTimeout: Duration = .seconds(10), retry: RetryPolicy = .standard, hedging: Duration? = nil,
        circuit: CircuitPolicy = .standard, rateLimit: RateLimit? = nil, concurrency: Int = 1000,
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
