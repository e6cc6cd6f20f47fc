// SPDX-License-Identifier: MIT

import CurlewHTTP

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
        return response.status.code < 400 || RetryInstruction(response.headers).verdict != true
    }
}

extension RetryInterceptor: CustomStringConvertible {
    /// A description such as `Retry(3 attempts, exponential 100 ms…20 s)`.
    public var description: String { "Retry(\(policy))" }
}
