// SPDX-License-Identifier: MIT

import CurlewHTTP

extension ExchangeContext {
    /// Returns this context for sending the request again immediately, without a retry policy. The history includes the
    /// attempt that ended with `response`, which is also recorded for observers.
    package func following(_ response: HTTPResponse, because cause: Attempt.Cause) -> ExchangeContext {
        let duration = response.metrics.total ?? response.metrics.firstByte ?? .zero
        let last = Attempt(
            number: (pastAttempts.last?.number ?? 0) + 1, hop: hop,
            start: max(.zero, start.duration(to: time.now) - duration), duration: duration,
            outcome: .status(response.status), decision: .retry(after: .zero, because: cause), notes: response.notes)
        // An interceptor closer to the transport that has resent the request has already recorded its attempts.
        var told = response.history.map { _ in response.attempts } ?? []
        if told.count > pastAttempts.count, told.starts(with: pastAttempts) {
            told[told.count - 1].decision = .retry(after: .zero, because: cause)
        } else {
            told = pastAttempts.adding(last)
        }
        var copy = self
        copy.attempt += max(1, (told.last?.number ?? 0) - (pastAttempts.last?.number ?? 0))
        copy.pastAttempts = told
        if let last = told.last { copy.record(.tried(last)) }
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
                Attempt(
                    number: (context.pastAttempts.last?.number ?? 0) + 1, hop: context.hop, start: start,
                    duration: begun.duration(to: context.time.now), outcome: Attempt.Outcome(failure),
                    notes: failure.notes))
            throw failure
        }
    }
}
