// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// The state of one call across its attempts, shared by `.retry()` and `withRetry`.
struct RetryCourse {
    private(set) var situation: RetryPolicy.Situation
    private let budget: RetryBudget?
    private let began: MonotonicInstant
    private var receipt: RetryBudget.Receipt?
    /// The origins that have received the request. The first request to another origin is not a retry.
    private var origins: [Origin]

    init(_ situation: RetryPolicy.Situation, budget: RetryBudget?, origin: Origin?, began: MonotonicInstant) {
        self.situation = situation
        self.budget = budget
        self.began = began
        origins = origin.map { [$0] } ?? []
    }

    /// Updates the situation at the end of an attempt.
    mutating func update(
        at now: MonotonicInstant, _ time: any TimeSource, remaining: Duration?, reachedNobody: Bool, random: Double
    ) {
        situation.elapsed = began.duration(to: now)
        situation.remaining = remaining
        situation.date = time.date
        situation.random = random
        situation.reachedNobody = reachedNobody
    }

    /// Returns `decision` if the budget pays for it. The first request to another origin and uncounted retries are
    /// free.
    mutating func pay(_ decision: Attempt.Decision, for origin: Origin?, after outcome: Attempt.Outcome)
        -> Attempt.Decision
    {
        guard let budget, let origin, decision.isRetry else { return decision }
        guard origins.contains(origin) else {
            origins.append(origin)
            receipt = nil
            return decision
        }
        guard decision.isCounted else { return decision }
        let isTimeout = if case .failed(.timedOut) = outcome { true } else { false }
        guard let paid = budget.withdraw(for: origin, afterTimeout: isTimeout) else {
            return .finish(because: .budgetExhausted)
        }
        receipt = paid
        return decision
    }

    /// Records that the next attempt begins after `wait`.
    mutating func scheduleNext(_ cause: Attempt.Cause, after wait: Duration) {
        situation.note(cause, wait)
    }

    /// Updates the situation for the request of the next attempt.
    mutating func change(to request: HTTPRequest, in context: ExchangeContext) {
        situation.mayRepeat = context.mayRepeat(request)
        situation.canReplay = request.body.canReplay
    }

    /// Returns the price of the last retry, or deposits a token if there was none.
    func succeeded(for origin: Origin?) {
        if let receipt { return receipt.succeeded() }
        if let budget, let origin { budget.deposit(for: origin) }
    }
}

extension RetryPolicy.Situation {
    /// Records one more attempt, with its wait and cause.
    fileprivate mutating func note(_ cause: Attempt.Cause, _ wait: Duration) {
        switch cause {
        case .notReceived: uncounted += 1
        case .offline: offline += 1
        default: attempts += 1
        }
        previousWait = wait
    }
}

extension Attempt.Decision {
    fileprivate var isRetry: Bool {
        if case .retry = self { true } else { false }
    }

    /// Whether the retry uses up attempts and budget.
    fileprivate var isCounted: Bool {
        switch self {
        case .finish: false
        case .retry(_, let cause): cause != .notReceived && cause != .offline
        }
    }
}
