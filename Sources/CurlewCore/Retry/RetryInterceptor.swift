// SPDX-License-Identifier: MIT

import CurlewHTTP

/// Retries transient failures. For the rules, see `RetryPolicy`.
struct RetryInterceptor: Interceptor {
    /// The policy of calls that specify none in `RequestOptions.retry`.
    let policy: RetryPolicy
    private let budget: RetryBudget
    private let isBudgetChosen: Bool
    private let when: (@Sendable (RetryPolicy.AttemptResult) -> RetryPolicy.Verdict)?
    private let onRetry: (@Sendable (inout HTTPRequest, RetryPolicy.AttemptResult) async throws -> Void)?
    private let random: @Sendable () -> Double

    init(
        _ policy: RetryPolicy = .standard, budget: RetryBudget? = nil,
        when: (@Sendable (RetryPolicy.AttemptResult) -> RetryPolicy.Verdict)? = nil,
        onRetry: (@Sendable (inout HTTPRequest, RetryPolicy.AttemptResult) async throws -> Void)? = nil,
        random: @escaping @Sendable () -> Double = { .random(in: 0..<1) }
    ) {
        self.policy = policy
        self.budget = budget ?? RetryBudget()
        isBudgetChosen = budget != nil
        self.when = when
        self.onRetry = onRetry
        self.random = random
    }

    /// The principal is `.anonymous`, because the interceptor sends the same request again. With an `onRetry`, which
    /// may change the principal, it is `.unknown`.
    var traits: InterceptorTraits {
        let principal: Principal = onRetry == nil ? .anonymous : .unknown
        var traits = InterceptorTraits(.retry) { _, _ in principal }
        if policy.attempts < 1 {
            let problem = "The retry policy allows \(policy.attempts) attempts. Allow at least one."
            traits.problem = { _ in problem }
        }
        traits.uniqueKind = ("retry interceptors", "their attempts multiply")
        traits.budget = (budget, isBudgetChosen)
        return traits
    }

    func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        let began = next.context.time.now
        let policy = next.context[RetryPolicyKey.self] ?? policy
        var (response, error): (HTTPResponse?, NetworkError?)
        do {
            let first = try await next(request, context: next.context.retried)
            // The common case: a successful response needs no decision.
            if when == nil, policy.delivers(first) {
                (next.retryBudget ?? budget).deposit(for: request.origin)
                return first
            }
            response = first
        } catch let failure {
            error = NetworkError(failure)
        }
        let context = next.context.retried
        let result = RetryPolicy.AttemptResult(
            request, routeName: context.routeName, number: context.attempt, response: response, error: error)
        return try await scheduleNext(after: result, next, context, policy, began)
    }
}

extension ExchangeContext {
    /// A copy of the context with `isRetried`: `.retry()` deposits the token for a success, so `.hedging` does not.
    fileprivate var retried: ExchangeContext {
        var copy = self
        copy.isRetried = true
        return copy
    }
}

extension RetryInterceptor {
    private func attempt(_ request: HTTPRequest, _ next: Next, _ context: ExchangeContext) async
        -> RetryPolicy.AttemptResult
    {
        var (response, error): (HTTPResponse?, NetworkError?)
        do {
            response = try await next(request, context: context)
        } catch let failure {
            error = NetworkError(failure)
        }
        return RetryPolicy.AttemptResult(
            request, routeName: context.routeName, number: context.attempt, response: response, error: error)
    }

    /// Continues a call whose first attempt failed, or whose outcomes an app-defined rule classifies.
    private func scheduleNext(
        after first: RetryPolicy.AttemptResult, _ next: Next, _ context: ExchangeContext, _ policy: RetryPolicy,
        _ began: SystemTime.Instant
    ) async throws -> HTTPResponse {
        let original = first.request
        var (context, result, start) = (context, first, began)
        let time = context.time
        var state = RetryState(original, in: context, budget: next.retryBudget ?? budget, began: began)
        while true {
            let now = time.now
            let verdict = result.error?.isCancelled == true ? .usual : when?(result) ?? .usual
            if verdict == .usual, let response = result.response, policy.delivers(response) {
                state.succeeded(for: result.request.origin)
                if result.number == first.number { return response }
                return try result.concluded(
                    result.attempts(.finish(because: .final), from: start, to: now, in: context), for: original)
            }
            let known = context.pastAttempts.last?.number ?? 0
            state.update(
                at: now, time, remaining: context.horizon.remaining(at: now), reachedNoServer: result.reachedNoServer,
                random: random())
            var decision = policy.decide(
                result.outcome, headers: result.headers, verdict: verdict, in: state.situation)
            var request = result.request
            if case .retry = decision, onRetry != nil {
                request = try await changed(result, decision, start, context)
                state.change(to: request, in: context)
            }
            decision = state.charge(decision, for: request.origin, after: result.outcome)
            context.pastAttempts = result.attempts(decision, from: start, to: now, in: context)
            report(decision, of: request, in: context)
            guard case .retry(let wait, let cause) = decision else {
                return try result.concluded(context.pastAttempts, for: original)
            }
            result.giveUp()
            // This clock reading is the one that the decision used. With a later one, the wait could end past the
            // deadline.
            try await pause(until: now.advanced(by: wait), in: context)
            state.scheduleNext(cause, after: wait)
            // Includes the attempts that interceptors closer to the transport made.
            context.attempt += max(1, (context.pastAttempts.last?.number ?? 0) - known)
            start = time.now
            result = await attempt(request, next, context)
        }
    }

    private func report(_ decision: NetworkError.Attempt.Decision, of request: HTTPRequest, in context: ExchangeContext)
    {
        guard context.isObserved else { return }
        if let last = context.pastAttempts.last { context.record(.tried(last)) }
        guard decision == .finish(because: .budgetExhausted) else { return }
        context.record(
            .feature(
                Pipeline.PolicyEvent(
                    .budgetExhausted, by: .retry, scope: "\(request.origin)", cause: "no further attempt")))
    }

    /// Returns the request of the next attempt, as `onRetry` changed it.
    private func changed(
        _ result: RetryPolicy.AttemptResult, _ decision: NetworkError.Attempt.Decision, _ start: SystemTime.Instant,
        _ context: ExchangeContext
    ) async throws -> HTTPRequest {
        var request = result.request
        do {
            try await onRetry?(&request, result)
            return try request.following(result.request, in: context)
        } catch {
            result.giveUp()
            var failure = NetworkError(error)
            failure.attempts = result.attempts(
                .finish(because: .appRule), from: start, to: context.time.now, in: context)
            throw failure
        }
    }

    private func pause(until end: SystemTime.Instant, in context: ExchangeContext) async throws {
        do {
            try await context.time.sleep(until: end)
        } catch {
            var failure = NetworkError(error)
            failure.attempts = context.pastAttempts
            throw failure
        }
    }
}

extension Interceptor where Self == BuiltInInterceptor {
    /// Retries transient failures: `.retry()`, `.retry(.attempts(5))`.
    ///
    /// `RetryPolicy` documents which failures are retried. `Pipeline.standard` contains this interceptor.
    ///
    /// - The interceptors closer to the transport run once for each attempt, with `context.attempt` and
    ///   `context.pastAttempts`. An attempt ends when the response head arrives. If the body fails later, its reader
    ///   throws the error.
    /// - Each counted retry draws on the `RetryBudget`. If the budget has too few tokens, the caller receives the
    ///   response or error of the last attempt. Successes return tokens.
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
    /// - `when`: the rule of the app. Not called for cancellation. Default nil: the policy alone decides.
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

extension RetryPolicy.AttemptResult {
    /// Returns the attempts of the call up to this one. Interceptors closer to the transport may already have recorded
    /// them.
    func attempts(
        _ decision: NetworkError.Attempt.Decision, from start: SystemTime.Instant, to end: SystemTime.Instant,
        in context: ExchangeContext
    ) -> [NetworkError.Attempt] {
        let past = context.pastAttempts
        if var recorded = recorded, recorded.count > past.count, recorded.starts(with: past) {
            recorded[recorded.count - 1].decision = decision
            return recorded
        }
        return past.adding(
            NetworkError.Attempt(
                number: (past.last?.number ?? 0) + 1, hop: context.hop, start: context.start.duration(to: start),
                duration: start.duration(to: end), outcome: outcome, decision: decision, notes: notes))
    }

    private var recorded: [NetworkError.Attempt]? {
        if let response {
            return response.history.flatMap { $0.isComplete || !$0.attempts.isEmpty ? response.attempts : nil }
        }
        return error?.attempts
    }

    private var notes: [String] { response?.notes ?? error?.notes ?? [] }

    /// Whether the attempt reached no server: no network, no route to the host, or no address for its name.
    var reachedNoServer: Bool { error?.reachedNoServer ?? false }

    /// Cancels the response body, because no caller will read it.
    func giveUp() {
        response?.body.cancel()
    }

    /// Returns the response or throws the error as the outcome of the call, with `attempts` as its history.
    func concluded(_ attempts: [NetworkError.Attempt], for original: HTTPRequest) throws -> HTTPResponse {
        if var response {
            response.arrive(from: request, insteadOf: original)
            response.attempts = attempts
            return response
        }
        var failure = error ?? NetworkError(.cancelled)
        failure.attempts = attempts
        failure.notes = []
        throw failure
    }
}

extension RetryPolicy {
    /// Whether the policy returns the response to the caller without a decision: it has no transient status, and the
    /// server does not request a retry.
    func delivers(_ response: HTTPResponse) -> Bool {
        if statuses.contains(response.status) { return false }
        return response.status.code < 400 || RetryInstruction(headers: response.headers).verdict != true
    }
}

extension RetryInterceptor: CustomStringConvertible {
    /// A description such as `Retry(3 attempts, exponential 100 ms…20 s)`.
    public var description: String { "Retry(\(policy))" }
}
