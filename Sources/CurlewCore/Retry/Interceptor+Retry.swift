// SPDX-License-Identifier: MIT

extension Interceptor where Self == BuiltInInterceptor {
    /// Retries transient failures: `.retry()`, `.retry(.attempts(5))`.
    ///
    /// `RetryPolicy` documents which failures are retried. `Pipeline.standard` contains this interceptor.
    ///
    /// - The interceptors closer to the transport run once for each attempt, with `context.attempt` and
    ///   `context.pastAttempts`. An attempt ends when the response head arrives. If the body fails later, its reader
    ///   throws the error.
    /// - Each counted retry draws on the `RetryBudget`. If the budget has too few tokens, the caller receives
    ///   the response or error of the last attempt. Successes return tokens.
    /// - The response body of an attempt that is retried is cancelled before the wait. If the body had arrived with the
    ///   response head, the connection can be reused.
    /// - All attempts and waits share the total deadline of the call. Cancellation ends a wait immediately.
    /// - `when` is a rule of the app that classifies each outcome: see `RetryPolicy.Verdict`. The closure receives the
    ///   request, the status, the fields, small bodies and the number of the attempt (`RetryPolicy.AttemptResult`), so
    ///   an app can also retry errors in a response with status 200.
    /// - `onRetry` changes the request before its next attempt, for example the host or a key. It runs before the wait
    ///   and before the retry draws on the budget, but not before the first attempt. An error that it throws ends the
    ///   call.
    /// - If `onRetry` changes the origin, the request loses the earlier fields that are not known to be harmless, as in
    ///   `.redirects()`. Interceptors closer to the transport attach the fields of the new origin. A change from https
    ///   to http ends the call with `.invalidRequest`. The first attempt at another origin does not draw on the budget.
    ///   The response from another origin has `Cache-Control: no-store` and no cookies, because interceptors closer to
    ///   the caller attribute it to the origin of the call.
    /// - `onRetry` may change the principal of the response. It therefore disables caches and coalescing for the
    ///   client, unless the interceptor is added with `changesPrincipal: false`.
    /// - `attempts` of the response or error contains the history. Observers are notified of each attempt that did not
    ///   simply succeed (`ExchangeEvent.tried`).
    /// - If the first attempt succeeds, the interceptor only reads the clock, once.
    ///
    /// - `budget`: the budget that retries draw on. Default nil: the budget of the pipeline, or a separate one that the
    ///   client shares with the clients derived from it.
    /// - `when`: a rule of the app that classifies each outcome. Not called for cancellation. Default nil: the policy
    ///   alone decides.
    /// - `onRetry`: changes the request before each further attempt. Default nil: the request is sent unchanged.
    /// - `random`: returns uniformly distributed numbers in 0..<1 for the waits. Default: the system's generator.
    public static func retry(
        _ policy: RetryPolicy = .standard, budget: RetryBudget? = nil,
        when: (@Sendable (RetryPolicy.AttemptResult) -> RetryPolicy.Verdict)? = nil,
        onRetry: (@Sendable (inout HTTPRequest, RetryPolicy.AttemptResult) async throws -> Void)? = nil,
        random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
    ) -> BuiltInInterceptor {
        BuiltInInterceptor(RetryInterceptor(policy, budget: budget, when: when, onRetry: onRetry, random: random))
    }
}
