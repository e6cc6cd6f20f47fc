// SPDX-License-Identifier: MIT

import CurlewHTTP

extension ExchangeContext {
    /// Returns this context for sending the request again immediately, without a retry policy. The history includes the
    /// attempt that ended with `response`, which is also recorded for observers.
    package func following(_ response: HTTPResponse, because cause: NetworkError.Attempt.Cause) -> ExchangeContext {
        let duration = response.metrics.total ?? response.metrics.firstByte ?? .zero
        let last = NetworkError.Attempt(
            number: (pastAttempts.last?.number ?? 0) + 1, hop: hop,
            start: max(.zero, start.duration(to: time.now) - duration), duration: duration,
            outcome: .status(response.status), decision: .retry(after: .zero, because: cause), notes: response.notes)
        // An interceptor closer to the transport that has resent the request has already recorded its attempts.
        var recorded = response.history.map { _ in response.attempts } ?? []
        if recorded.count > pastAttempts.count, recorded.starts(with: pastAttempts) {
            recorded[recorded.count - 1].decision = .retry(after: .zero, because: cause)
        } else {
            recorded = pastAttempts.adding(last)
        }
        var copy = self
        copy.attempt += max(1, (recorded.last?.number ?? 0) - (pastAttempts.last?.number ?? 0))
        copy.pastAttempts = recorded
        if let last = recorded.last { copy.record(.tried(last)) }
        return copy
    }
}

extension Next {
    /// Runs the rest of the pipeline once more, with the earlier attempts in the history of the result.
    package func again(_ request: HTTPRequest, in context: ExchangeContext) async throws -> HTTPResponse {
        let begun = context.time.now
        let start = context.start.duration(to: begun)
        do {
            var response = try await self(request, context: context)
            response.follow(context.pastAttempts, hop: context.hop, start: start)
            return response
        } catch {
            var failure = NetworkError(error)
            guard failure.attempts.isEmpty else { throw failure }
            failure.attempts = context.pastAttempts.adding(
                NetworkError.Attempt(
                    number: (context.pastAttempts.last?.number ?? 0) + 1, hop: context.hop, start: start,
                    duration: begun.duration(to: context.time.now), outcome: NetworkError.Attempt.Outcome(failure),
                    notes: failure.notes))
            throw failure
        }
    }
}
