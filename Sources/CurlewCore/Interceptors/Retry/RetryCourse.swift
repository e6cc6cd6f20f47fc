// SPDX-License-Identifier: MIT

import CurlewHTTP

/// One call on its way through its attempts: what `.retry()` and `withRetry` have in common.
struct RetryCourse {
    private(set) var situation: RetryPolicy.Situation
    private let budget: RetryBudget?
    private let began: MonotonicInstant
    private var receipt: RetryBudget.Receipt?
    /// Who got the request. What another origin gets is no repetition.
    private var origins: [Origin]

    init(_ situation: RetryPolicy.Situation, budget: RetryBudget?, origin: Origin?, began: MonotonicInstant) {
        self.situation = situation
        self.budget = budget
        self.began = began
        origins = origin.map { [$0] } ?? []
    }

    /// An attempt is over.
    mutating func look(
        at now: MonotonicInstant, _ time: any TimeSource, remaining: Duration?, reachedNobody: Bool, random: Double
    ) {
        situation.elapsed = began.duration(to: now)
        situation.remaining = remaining
        situation.date = time.date
        situation.random = random
        situation.reachedNobody = reachedNobody
    }

    /// `decision` if the budget pays for it: the first request to another origin and what is not counted cost nothing.
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
            return .finish(because: .budgetIsEmpty)
        }
        receipt = paid
        return decision
    }

    /// The next attempt begins, after `wait`.
    mutating func goOn(_ cause: Attempt.Cause, after wait: Duration) {
        situation.note(cause, wait)
    }

    /// The next attempt is made with this request.
    mutating func change(to request: HTTPRequest, in context: ExchangeContext) {
        situation.mayRepeat = context.mayRepeat(request)
        situation.canReplay = request.body.canReplay
    }

    /// The last attempt was a success: its price comes back, or it earns a token.
    func succeeded(for origin: Origin?) {
        if let receipt { return receipt.succeeded() }
        if let budget, let origin { budget.deposit(for: origin) }
    }
}

extension RetryPolicy.Situation {
    /// One more attempt after `wait`, for this reason.
    fileprivate mutating func note(_ cause: Attempt.Cause, _ wait: Duration) {
        switch cause {
        case .neverArrived: uncounted += 1
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

    /// Whether it uses up attempts and budget.
    fileprivate var isCounted: Bool {
        switch self {
        case .finish: false
        case .retry(_, let cause): cause != .neverArrived && cause != .offline
        }
    }
}
