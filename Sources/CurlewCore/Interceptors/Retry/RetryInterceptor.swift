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
/// - What happened is in `attempts` of the answer or error, and observers hear of each attempt that was not simply
///   answered (`ExchangeEvent.tried`).
/// - An answer that comes at once costs one reading of the clock.
public struct RetryInterceptor: ValidatingInterceptor {
    /// What it tries again, unless a call says otherwise.
    public let policy: RetryPolicy
    /// What repetitions are paid from.
    public let budget: RetryBudget
    private let random: @Sendable () -> Double

    /// An interceptor that follows `policy`.
    ///
    /// - `budget`: default one of its own, which the client and what is derived from it share.
    /// - `random`: chance for the waits, evenly from 0 up to, not including, 1. Default the system's.
    public init(
        _ policy: RetryPolicy = .standard, budget: RetryBudget = RetryBudget(),
        random: @escaping @Sendable () -> Double = { .random(in: 0..<1) }
    ) {
        self.policy = policy
        self.budget = budget
        self.random = random
    }

    /// `.retry`.
    public var placement: Placement { .retry }

    /// False: there is no outcome to decide about.
    public var runsInPreview: Bool { false }

    /// `.anonymous`: it sends the same request again.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .anonymous }

    /// Runs the rest of the chain, and again as the policy decides.
    public func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        var context = next.context
        let began = context.time.now
        let policy = context[RetryPolicyKey.self] ?? policy
        context.isRetried = true
        let response: HTTPResponse
        do {
            response = try await next(request, context: context)
        } catch {
            return try await goOn(after: .failed(NetworkError(error)), of: request, next, context, policy, began)
        }
        guard policy.delivers(response) else {
            return try await goOn(after: .answered(response), of: request, next, context, policy, began)
        }
        budget.deposit(for: request.origin)
        return response
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

extension RetryInterceptor {
    /// What came of one attempt.
    enum Result: Sendable {
        case answered(HTTPResponse)
        case failed(NetworkError)

        var outcome: Attempt.Outcome {
            switch self {
            case .answered(let response): .status(response.status)
            case .failed(let failure): Attempt.Outcome(failure)
            }
        }

        /// Nothing of the attempt left this network.
        var reachedNobody: Bool {
            if case .failed(let failure) = self { failure.reachedNobody } else { false }
        }

        var headers: HTTPHeaders {
            switch self {
            case .answered(let response): response.headers
            case .failed(let failure): failure.response?.headers ?? HTTPHeaders()
            }
        }
    }

    /// The way of calls whose first attempt was not simply answered.
    func goOn(
        after first: Result, of request: HTTPRequest, _ next: Next, _ context: ExchangeContext, _ policy: RetryPolicy,
        _ began: MonotonicInstant
    ) async throws -> HTTPResponse {
        var context = context
        let time = context.time
        var situation = RetryPolicy.Situation(request, in: context, random: 0)
        var (result, start, refund) = (first, began, 1)
        while true {
            let now = time.now
            situation.elapsed = began.duration(to: now)
            situation.remaining = context.horizon.remaining(at: now)
            situation.date = time.date
            situation.random = random()
            situation.reachedNobody = result.reachedNobody
            var decision = policy.decide(result.outcome, headers: result.headers, in: situation)
            if decision.isCounted {
                let occasion = RetryBudget.Occasion(result.outcome, decision.cause)
                if budget.withdraw(for: request.origin, after: occasion) {
                    refund = budget.price(after: occasion)
                } else {
                    decision = .finish(because: .budgetIsEmpty)
                }
            }
            let known = context.pastAttempts.last?.number ?? 0
            context.pastAttempts = result.attempts(decision, from: start, to: now, in: context)
            if let last = context.pastAttempts.last { context.record(.tried(last)) }
            guard case .retry(let wait, let cause) = decision else { return try result.concluded(context.pastAttempts) }
            result.giveUp()
            // By the reading that the decision rests on: a later one would be past the deadline.
            try await pause(until: now.advanced(by: wait), in: context)
            situation.note(cause, wait)
            // What sends again further in counts too.
            context.attempt += max(1, (context.pastAttempts.last?.number ?? 0) - known)
            start = time.now
            do {
                var response = try await next(request, context: context)
                result = .answered(response)
                guard policy.delivers(response) else { continue }
                budget.deposit(for: request.origin, refund: refund)
                response.attempts = result.attempts(.finish(because: .final), from: start, to: time.now, in: context)
                return response
            } catch {
                result = .failed(NetworkError(error))
            }
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
