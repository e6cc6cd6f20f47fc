// SPDX-License-Identifier: MIT

package import CurlewCore
import CurlewHTTP

/// The interceptor of `.concurrencyLimit(_:)`, where its rules are documented.
package struct ConcurrencyLimitInterceptor: ValidatingInterceptor {
    /// The limit, with its permits and queues.
    public let limit: ConcurrencyLimit

    /// Creates an interceptor for a limit that other clients may share.
    public init(_ limit: ConcurrencyLimit) {
        self.limit = limit
    }

    /// `.concurrencyLimit`.
    public var placement: Placement { .concurrencyLimit }

    /// False: a preview sends nothing, so it needs no permit.
    public var runsInPreview: Bool { false }

    /// `.anonymous`: it changes no request.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .anonymous }

    /// Waits for a permit and keeps it until the response body ends.
    public func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        let limit = limit
        var context = next.context
        let key = limit.scope.key(of: request, in: context)
        let waited = limit.enterAtOnce(key) ? .zero : try await wait(for: key, in: &context)
        let (time, sent, inPipeline) = (context.time, context.time.now, context.queued)
        do {
            var response = try await next(request, context: context)
            let queued = max(.zero, (response.metrics.queue ?? .zero) - inPipeline)
            let now = time.now
            let outcome = ConcurrencyOutcome(response, after: sent.duration(to: now) - queued)
            if response.body.isAtHand {
                limit.leave(key, outcome, sent: sent, at: now)
            } else {
                // The sample is recorded at the response head, as a body may take hours.
                limit.answer(key, outcome, sent: sent, at: now)
                response.body = response.body.onEnd { _ in limit.leaveBody(key, at: time.now) }
            }
            response.note(waited, for: "a place")
            return response
        } catch {
            let now = time.now
            let outcome = ConcurrencyOutcome(NetworkError(error), after: sent.duration(to: now))
            limit.leave(key, outcome, sent: sent, at: now)
            throw error
        }
    }

    /// Waits for a permit, and returns the duration of the wait.
    private func wait(for key: LimitScope.Key, in context: inout ExchangeContext) async throws -> Duration {
        let arrival = context.time.now
        do {
            try await limit.acquire(key, context)
        } catch {
            context.tellRefusal(error, .concurrencyLimit, key)
            throw error
        }
        return context.wait(since: arrival, for: .concurrencyLimit, key)
    }

    /// Reports a limit that lets no call through.
    public func problem(in setup: Pipeline.Environment) -> String? {
        if let problem = limit.adaptive?.problem { return problem }
        return limit.permits > 0
            ? nil : "The concurrency limit of \(limit.permits) allows no calls. Set it to at least one."
    }
}

extension ConcurrencyLimitInterceptor: CustomStringConvertible {
    /// `ConcurrencyLimit(8 per origin)`, `ConcurrencyLimit(4…200 per origin)`
    public var description: String {
        let permits = limit.adaptive.map { "\($0.least)…\($0.most)" } ?? "\(limit.permits)"
        return "ConcurrencyLimit(\(permits) per \(limit.scope))"
    }
}

extension ExchangeContext {
    /// Adds a wait in a queue of the pipeline, unless it is too short to count as a wait.
    mutating func wait(
        since arrival: MonotonicInstant, for policy: Placement, _ key: LimitScope.Key
    ) -> Duration {
        let waited = arrival.duration(to: time.now)
        guard waited > .milliseconds(1) else { return .zero }
        queued += waited
        record(.feature(PolicyNotice(.queued(waited), by: policy, scope: "\(key)", cause: "")))
        return waited
    }

    /// Notifies the observers that a limit refused the call. Cancellation is not a refusal.
    func tellRefusal(_ error: any Error, _ policy: Placement, _ key: LimitScope.Key) {
        guard isObserved, let refusal = error as? NetworkError else { return }
        record(.feature(PolicyNotice(.refused, by: policy, scope: "\(key)", cause: refusal.detail)))
    }
}

extension HTTPResponse {
    /// Adds a note about the wait before the transport received the request.
    mutating func note(_ waited: Duration, for what: String) {
        if waited > .zero { note("waited \(waited.brief) for \(what)") }
    }
}
