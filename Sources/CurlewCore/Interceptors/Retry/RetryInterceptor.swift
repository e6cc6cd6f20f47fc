// SPDX-License-Identifier: MIT

import CurlewHTTP

/// Tries again what `RetryPolicy` lets be tried again; part of `Pipeline.standard`. Made by `.retry()`.
///
/// - Everything further in runs once for each attempt, with `context.attempt` and `context.pastAttempts`. An attempt ends
///   when the head of an answer is there: a body that breaks off later is an error of its reader.
/// - Each repetition that is counted draws on the `RetryBudget`; without tokens the caller gets the answer or error at
///   hand. Success gives tokens back.
/// - The body of an answer that is not the last is given up before the wait. Bodies that came with their head leave the
///   connection in use.
/// - All attempts and waits share the total deadline of the call. Cancellation ends a wait at once.
/// - `when:` is a rule of the app on each outcome: see `RetryVerdict`. It sees the request, the status, the fields, small
///   bodies and the number of the attempt (`AttemptResult`), so errors in a response with status 200 can be tried again.
/// - `onRetry:` changes the request before its next attempt: another host, another key. It runs before the wait and before
///   the budget is asked, and not for the first attempt; what it throws ends the call. At another origin the request goes
///   without the fields that came along and are not known to be harmless (the rules of `.redirects()`), never from https
///   to http, and interceptors further in attach what belongs to that origin. The first attempt at another origin draws
///   on no budget. Its response has `no-store` and no cookies, since everything further out believes it to be of the
///   origin of the call. Caches and coalescing do nothing for a client with an `onRetry`, which may change whose answer it
///   is, unless it is added with `changesWhoseAnswer: false`.
/// - What happened is in `attempts` of the answer or error, and observers hear of each attempt that was not simply
///   answered (`ExchangeEvent.tried`).
/// - An answer that comes at once costs one reading of the clock.
public struct RetryInterceptor: ValidatingInterceptor {
    /// What it tries again, unless a call says otherwise.
    public let policy: RetryPolicy
    /// What repetitions are paid from.
    public let budget: RetryBudget
    package let isPurseChosen: Bool
    private let rules: RetryRules?
    private let random: @Sendable () -> Double

    /// An interceptor that follows `policy`.
    ///
    /// - `budget`: nil, the default, is that of the pipeline, or one of its own, which the client and what is derived from it
    ///   share.
    /// - `when`: what the app makes of each outcome. Not asked about cancellation. Default nil, the policy alone.
    /// - `onRetry`: changes the request before each further attempt. Default nil.
    /// - `random`: chance for the waits, evenly from 0 up to, not including, 1. Default the system's.
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

    /// False: there is no outcome to decide about.
    public var runsInPreview: Bool { false }

    /// `.anonymous`: it sends the same request again. `.unknown` with an `onRetry`, which may change whose answer it is.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal {
        rules?.onRetry == nil ? .anonymous : .unknown
    }

    /// Runs the rest of the chain, and again as the policy decides.
    public func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        let began = next.context.time.now
        let policy = next.context[RetryPolicyKey.self] ?? policy
        var (response, error): (HTTPResponse?, NetworkError?)
        do {
            let answered = try await next(request, context: next.context.retried)
            // What is simply answered pays for nothing else.
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

    /// Policies that allow nothing, and a second interceptor, with which attempts would multiply.
    public func problem(in setup: PipelineSetup) -> String? {
        if policy.attempts < 1 { return "The retry policy allows \(policy.attempts) attempts. Allow one at least." }
        if setup.retries > 1 {
            return "There are \(setup.retries) retries, so that their attempts multiply."
                + " Put one in place of the other with replacing(_:)."
        }
        return nil
    }

    /// Tells of itself and its budget.
    public func declare(in setup: inout PipelineSetup) {
        setup.retries += 1
        setup.budgets.insert(ObjectIdentifier(budget))
    }
}

extension ExchangeContext {
    /// This context once there is a retry that counts what succeeds.
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

    /// The way of calls whose first attempt was not simply answered.
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
            // By the reading that the decision rests on: a later one would be past the deadline.
            try await pause(until: now.advanced(by: wait), in: context)
            course.goOn(cause, after: wait)
            // What sends again further in counts too.
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

    /// The request of the next attempt, as the app wants it.
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
