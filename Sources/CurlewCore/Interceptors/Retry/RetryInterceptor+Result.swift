// SPDX-License-Identifier: MIT

import CurlewHTTP

extension RetryInterceptor.Result {
    /// The attempts of the call with this one behind them. Those further in may have told of it already.
    func attempts(
        _ decision: Attempt.Decision, from start: MonotonicInstant, to end: MonotonicInstant,
        in context: ExchangeContext
    ) -> [Attempt] {
        let past = context.pastAttempts
        if var told = told, told.count > past.count, told.starts(with: past) {
            told[told.count - 1].decision = decision
            return told
        }
        return past.adding(
            Attempt(
                number: (past.last?.number ?? 0) + 1, hop: context.hop, start: context.start.duration(to: start),
                duration: start.duration(to: end), outcome: outcome, decision: decision, notes: notes))
    }

    private var told: [Attempt]? {
        switch self {
        case .answered(let response):
            response.history.flatMap { $0.isComplete || !$0.attempts.isEmpty ? response.attempts : nil }
        case .failed(let failure): failure.attempts
        }
    }

    private var notes: [String] {
        switch self {
        case .answered(let response): response.notes
        case .failed(let failure): failure.notes
        }
    }

    /// Lets go of an answer that nobody will read.
    func giveUp() {
        if case .answered(let response) = self { response.body.cancel() }
    }

    /// This as the outcome of the call.
    func concluded(_ attempts: [Attempt]) throws -> HTTPResponse {
        switch self {
        case .answered(var response):
            response.attempts = attempts
            return response
        case .failed(var failure):
            failure.attempts = attempts
            failure.notes = []
            throw failure
        }
    }
}

extension RetryPolicy {
    /// Whether an answer is the caller's without further questions.
    func delivers(_ response: HTTPResponse) -> Bool {
        if statuses.contains(response.status) { return false }
        return response.status.code < 400 || RetryWish(response.headers).verdict != true
    }
}

extension RetryPolicy.Situation {
    /// One more attempt after `wait`, for this reason.
    mutating func note(_ cause: Attempt.Cause, _ wait: Duration) {
        switch cause {
        case .neverArrived: uncounted += 1
        case .offline: offline += 1
        default: attempts += 1
        }
        previousWait = wait
    }
}

extension Attempt.Decision {
    /// Whether it uses up attempts and budget.
    var isCounted: Bool {
        switch self {
        case .finish: false
        case .retry(_, let cause): cause != .neverArrived && cause != .offline
        }
    }
}

extension RetryInterceptor: CustomStringConvertible {
    /// `Retry(3 attempts, exponential 100 ms…20 s)`
    public var description: String { "Retry(\(policy))" }
}
