// SPDX-License-Identifier: MIT

import CurlewHTTP

/// The state of a call over all its attempts, for `.retry()`.
struct RetryState {
    private(set) var situation: RetryPolicy.Situation
    private let budget: RetryBudget
    private let began: SystemTime.Instant
    private var receipt: RetryBudget.Receipt?
    /// The origins that have received the request. The first attempt at another origin does not count as a retry.
    private var origins: [Origin]

    /// Creates the state before the first attempt of `request`.
    init(_ request: HTTPRequest, in context: ExchangeContext, budget: RetryBudget, began: SystemTime.Instant) {
        situation = RetryPolicy.Situation(random: 0)
        self.budget = budget
        self.began = began
        origins = [request.origin]
        change(to: request, in: context)
    }

    /// Updates the situation when an attempt has ended.
    mutating func update(
        at now: SystemTime.Instant, _ time: any TimeSource, remaining: Duration?, reachedNoServer: Bool, random: Double
    ) {
        situation.elapsed = began.duration(to: now)
        situation.remaining = remaining
        situation.date = time.date
        situation.random = random
        situation.reachedNoServer = reachedNoServer
    }

    /// Returns `decision`, or a decision to finish if the budget has too few tokens for the retry. The first attempt at
    /// another origin and uncounted retries take none.
    mutating func charge(
        _ decision: NetworkError.Attempt.Decision, for origin: Origin, after outcome: NetworkError.Attempt.Outcome
    ) -> NetworkError.Attempt.Decision {
        guard case .retry(_, let cause) = decision else { return decision }
        guard origins.contains(origin) else {
            origins.append(origin)
            receipt = nil
            return decision
        }
        if cause == .notReceived || cause == .offline { return decision }
        let isTimeout = if case .failed(.timedOut) = outcome { true } else { false }
        guard let withdrawn = budget.withdraw(for: origin, afterTimeout: isTimeout) else {
            return .finish(because: .budgetExhausted)
        }
        receipt = withdrawn
        return decision
    }

    /// Records that the next attempt follows after `wait`.
    mutating func scheduleNext(_ cause: NetworkError.Attempt.Cause, after wait: Duration) {
        switch cause {
        case .notReceived: situation.uncounted += 1
        case .offline: situation.offline += 1
        default: situation.attempts += 1
        }
        situation.previousWait = wait
    }

    /// Updates the situation for the next request, such as one that `onRetry` produced.
    mutating func change(to request: HTTPRequest, in context: ExchangeContext) {
        situation.mayRepeat = context.mayRepeat(request)
        situation.canReplay = request.body.canReplay
    }

    /// Returns the tokens of the last retry to the budget, or deposits one token if no retry took any.
    func succeeded(for origin: Origin) {
        if let receipt { return receipt.succeeded() }
        budget.deposit(for: origin)
    }
}
