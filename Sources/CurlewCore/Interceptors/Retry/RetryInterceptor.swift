// SPDX-License-Identifier: MIT

import CurlewHTTP

/// Retries what `RetryPolicy` allows; part of `Pipeline.standard`. Created by `.retry()`.
///
/// - The interceptors further in run once for each attempt, with `context.attempt` and `context.pastAttempts`. An
///   attempt ends when the response head arrives. A body that fails later throws an error to its reader.
/// - Each counted retry draws on the `RetryBudget`. Without tokens, the caller receives the response or error at hand.
///   Successes return tokens.
/// - The body of a response that is not the last is cancelled before the wait. If the body arrived with the response
///   head, the connection stays in use.
/// - All attempts and waits share the total deadline of the call. Cancellation ends a wait immediately.
/// - `when:` is an app-defined rule for each outcome: see `RetryVerdict`. It receives the request, the status, the
///   fields, small bodies and the number of the attempt (`AttemptResult`), so an app can retry errors in a response
///   with status 200.
/// - `onRetry:` changes the request before its next attempt, for example the host or a key. It runs before the wait and
///   before the budget is charged, and not for the first attempt. An error that it throws ends the call. If it changes
///   the origin, the request is sent without the earlier fields that are not known to be harmless (the rules of
///   `.redirects()`), and never from https to http. Interceptors further in attach what belongs to the new origin. The
///   first attempt at another origin draws on no budget. The response from another origin has `no-store` and no
///   cookies, since interceptors further out attribute it to the origin of the call. An `onRetry` may change which
///   principal the response belongs to, so it disables caches and coalescing for the client, unless it is added with
///   `changesWhoseAnswer: false`.
/// - `attempts` of the response or error contains the history. Observers are notified of each attempt that did
///   not simply succeed (`ExchangeEvent.tried`).
/// - A first attempt that succeeds reads the clock once.
public struct RetryInterceptor: ValidatingInterceptor {
    /// The policy of calls that specify none.
    public let policy: RetryPolicy
    /// The budget that retries draw on.
    public let budget: RetryBudget
    package let isPurseChosen: Bool
    private let rules: RetryRules?
    private let random: @Sendable () -> Double

    /// Creates an interceptor that follows `policy`.
    ///
    /// - `budget`: nil, the default, uses the budget of the pipeline, or a separate one that the client shares with the
    ///   clients derived from it.
    /// - `when`: an app-defined rule that classifies each outcome. Not called for cancellation. Default nil, the policy
    ///   alone.
    /// - `onRetry`: changes the request before each further attempt. Default nil.
    /// - `random`: returns uniformly distributed numbers in 0..<1 for the waits. Default the system's generator.
    public init(
        _ policy: RetryPolicy = .standard, budget: RetryBudget? = nil,
        when: (@Sendable (AttemptResult) -> RetryVerdict)? = nil,
        onRetry: (@Sendable (inout HTTPRequest, AttemptResult) async throws -> Void)? = nil,
        random: @escaping @Sendable () -> Double = { .random(in: 0..<1) }
    ) {
        let rules = when == nil && onRetry == nil ? nil : RetryRules(when: when, onRetry: onRetry)
        self.init(policy, budget ?? RetryBudget(), isBudgetChosen: budget != nil, rules, random)
    }

    private init(
        _ policy: RetryPolicy, _ budget: RetryBudget, isBudgetChosen: Bool, _ rules: RetryRules?,
        _ random: @escaping @Sendable () -> Double
    ) {
        self.policy = policy
        self.budget = budget
        self.isPurseChosen = isBudgetChosen
        self.rules = rules
        self.random = random
    }

    /// `.retry`.
    public var placement: Placement { .retry }

    /// False: a preview has no outcome to decide about.
    public var runsInPreview: Bool { false }

    /// `.anonymous`, as it sends the same request again; `.unknown` with an `onRetry`, which may change the principal.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal {
        rules?.onRetry == nil ? .anonymous : .unknown
    }

    /// Runs the rest of the chain, and runs it again as the policy decides.
    public func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        let began = next.context.time.now
        let policy = next.context[RetryPolicyKey.self] ?? policy
        var (response, error): (HTTPResponse?, NetworkError?)
        do {
            let answered = try await next(request, context: next.context.retried)
            // A successful response needs no further work.
            if rules?.when == nil, policy.delivers(answered) {
                budget.deposit(for: request.origin)
                return answered
            }
            response = answered
        } catch let failure {
            error = NetworkError(failure)
        }
        let context = next.context.retried
        let result = AttemptResult(
            request, routeName: context.routeName, number: context.attempt, response: response, error: error)
        return try await goOn(after: result, next, context, policy, began)
    }

    /// Reports a policy that allows no attempt, and a second retry interceptor, with which attempts would multiply.
    public func problem(in setup: PipelineSetup) -> String? {
        if policy.attempts < 1 { return "The retry policy allows \(policy.attempts) attempts. Allow one at least." }
        if setup.retries > 1 {
            return "There are \(setup.retries) retries, so that their attempts multiply."
                + " Put one in place of the other with replacing(_:)."
        }
        return nil
    }

    /// Declares this retry and its budget.
    public func declare(in setup: inout PipelineSetup) {
        setup.retries += 1
        setup.budgets.insert(ObjectIdentifier(budget))
    }
}

extension ExchangeContext {
    /// This context, marked as having a retry that counts successes.
    fileprivate var retried: ExchangeContext {
        var copy = self
        copy.isRetried = true
        return copy
    }
}

extension RetryInterceptor: PayingInterceptor {
    package var purse: AnyObject { budget }

    package func paying(from purse: AnyObject) -> any Interceptor {
        guard let budget = purse as? RetryBudget else { return self }
        return RetryInterceptor(policy, budget, isBudgetChosen: isPurseChosen, rules, random)
    }
}

extension RetryInterceptor {
    private func attempt(_ request: HTTPRequest, _ next: Next, _ context: ExchangeContext) async -> AttemptResult {
        var (response, error): (HTTPResponse?, NetworkError?)
        do {
            response = try await next(request, context: context)
        } catch let failure {
            error = NetworkError(failure)
        }
        return AttemptResult(
            request, routeName: context.routeName, number: context.attempt, response: response, error: error)
    }

    /// Continues a call whose first attempt did not simply succeed.
    private func goOn(
        after first: AttemptResult, _ next: Next, _ context: ExchangeContext, _ policy: RetryPolicy,
        _ began: MonotonicInstant
    ) async throws -> HTTPResponse {
        let asked = first.request
        var (context, result, start) = (context, first, began)
        let time = context.time
        var course = RetryCourse(
            RetryPolicy.Situation(asked, in: context, random: 0), budget: budget, origin: asked.origin, began: began)
        while true {
            let now = time.now
            let verdict = rules?.verdict(on: result) ?? .usual
            if verdict == .usual, let response = result.response, policy.delivers(response) {
                course.succeeded(for: result.request.origin)
                if result.number == first.number { return response }
                return try result.concluded(
                    result.attempts(.finish(because: .final), from: start, to: now, in: context), for: asked)
            }
            let known = context.pastAttempts.last?.number ?? 0
            course.look(
                at: now, time, remaining: context.horizon.remaining(at: now), reachedNobody: result.reachedNobody,
                random: random())
            var decision = policy.decide(
                result.outcome, headers: result.headers, verdict: verdict, in: course.situation)
            var request = result.request
            if case .retry = decision, rules?.onRetry != nil {
                request = try await changed(result, decision, start, context)
                course.change(to: request, in: context)
            }
            decision = course.pay(decision, for: request.origin, after: result.outcome)
            context.pastAttempts = result.attempts(decision, from: start, to: now, in: context)
            tell(decision, of: request, in: context)
            guard case .retry(let wait, let cause) = decision else {
                return try result.concluded(context.pastAttempts, for: asked)
            }
            result.giveUp()
            // Uses the clock reading that the decision is based on: a later one could put the end of the wait past the
            // deadline.
            try await pause(until: now.advanced(by: wait), in: context)
            course.goOn(cause, after: wait)
            // Counts the attempts that interceptors further in made.
            context.attempt += max(1, (context.pastAttempts.last?.number ?? 0) - known)
            start = time.now
            result = await attempt(request, next, context)
        }
    }

    private func tell(_ decision: Attempt.Decision, of request: HTTPRequest, in context: ExchangeContext) {
        guard context.isObserved else { return }
        if let last = context.pastAttempts.last { context.record(.tried(last)) }
        guard decision == .finish(because: .budgetIsEmpty) else { return }
        context.record(
            .policy(PolicyNotice(.budgetIsEmpty, by: .retry, scope: "\(request.origin)", cause: "no other attempt")))
    }

    /// Returns the request of the next attempt as `onRetry` changes it.
    private func changed(
        _ result: AttemptResult, _ decision: Attempt.Decision, _ start: MonotonicInstant, _ context: ExchangeContext
    ) async throws -> HTTPRequest {
        var request = result.request
        do {
            try await rules?.onRetry?(&request, result)
            return try request.following(result.request, in: context)
        } catch {
            result.giveUp()
            var failure = NetworkError(error)
            failure.attempts = result.attempts(
                .finish(because: .appRule), from: start, to: context.time.now, in: context)
            throw failure
        }
    }

    private func pause(until end: MonotonicInstant, in context: ExchangeContext) async throws {
        do {
            try await context.time.sleep(until: end)
        } catch {
            var failure = NetworkError(error)
            failure.attempts = context.pastAttempts
            throw failure
        }
    }
}
