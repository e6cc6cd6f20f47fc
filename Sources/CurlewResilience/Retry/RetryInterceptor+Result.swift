// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

extension AttemptResult {
    /// Returns the attempts of the call up to this one. Interceptors further in may already have recorded them.
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
        if let response {
            return response.history.flatMap { $0.isComplete || !$0.attempts.isEmpty ? response.attempts : nil }
        }
        return error?.attempts
    }

    private var notes: [String] { response?.notes ?? error?.notes ?? [] }

    /// Whether no part of the attempt left this network.
    var reachedNobody: Bool { error?.reachedNobody ?? false }

    /// Cancels the body of a response that no caller will read.
    func giveUp() {
        response?.body.cancel()
    }

    /// Returns the response, or throws the error, as the outcome of the call.
    func concluded(_ attempts: [Attempt], for asked: HTTPRequest) throws -> HTTPResponse {
        if var response {
            response.arrive(from: request, insteadOf: asked)
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
    /// Whether the response is returned to the caller without a further decision.
    func delivers(_ response: HTTPResponse) -> Bool {
        if statuses.contains(response.status) { return false }
        return response.status.code < 400 || RetryWish(response.headers).verdict != true
    }
}

extension RetryInterceptor: CustomStringConvertible {
    /// `Retry(3 attempts, exponential 100 ms…20 s)`
    public var description: String { "Retry(\(policy))" }
}
