// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// Limits the number of concurrent exchanges. For the rules, see `ConcurrencyLimit`.
struct ConcurrencyLimitInterceptor: Interceptor {
    let limit: ConcurrencyLimit

    var traits: InterceptorTraits { InterceptorTraits(.concurrencyLimit, problem: problem(in:)) }

    /// Waits for a permit, sends the request, and keeps the permit until the response body ends.
    func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        let limit = limit
        var context = next.context
        let key = limit.scope.key(of: request, in: context)
        let waited = limit.enterAtOnce(key) ? .zero : try await wait(for: key, in: &context)
        do {
            var response = try await next(request, context: context)
            if response.body.isAtHand {
                limit.leave(key)
            } else {
                response.body = response.body.onEnd { _ in limit.leave(key) }
            }
            response.note(waited, for: "a place")
            return response
        } catch {
            limit.leave(key)
            throw error
        }
    }

    /// Waits for a permit and returns how long the call waited.
    private func wait(for key: LimitScope.Key, in context: inout ExchangeContext) async throws -> Duration {
        let arrival = context.time.now
        do {
            try await limit.acquire(key, context)
        } catch {
            context.reportRefusal(error, .concurrencyLimit, key)
            throw error
        }
        return context.wait(since: arrival, for: .concurrencyLimit, key)
    }

    func problem(in setup: Pipeline.Environment) -> String? {
        limit.permits > 0
            ? nil : "The concurrency limit of \(limit.permits) allows no calls. Set it to at least one."
    }
}

extension ConcurrencyLimitInterceptor: CustomStringConvertible {
    /// A description such as `ConcurrencyLimit(8 per origin)`.
    var description: String { "ConcurrencyLimit(\(limit.permits) per \(limit.scope))" }
}

extension ExchangeContext {
    /// Adds the time since `arrival` to the queue time of the call, notifies observers, and returns the time. A wait of
    /// at most 1 ms counts as zero.
    mutating func wait(
        since arrival: SystemTime.Instant, for policy: Placement, _ key: LimitScope.Key
    ) -> Duration {
        let waited = arrival.duration(to: time.now)
        guard waited > .milliseconds(1) else { return .zero }
        queued += waited
        record(.feature(Pipeline.PolicyEvent(.queued(waited), by: policy, scope: "\(key)", cause: "")))
        return waited
    }

    /// Notifies observers that a limit refused the call. Does nothing for cancellation.
    func reportRefusal(_ error: any Error, _ policy: Placement, _ key: LimitScope.Key) {
        guard isObserved, let refusal = error as? NetworkError else { return }
        record(.feature(Pipeline.PolicyEvent(.refused, by: policy, scope: "\(key)", cause: refusal.detail)))
    }
}

extension HTTPResponse {
    /// Adds a note about a wait in a queue of the pipeline, unless the wait is zero.
    mutating func note(_ waited: Duration, for what: String) {
        if waited > .zero { note("waited \(waited.brief) for \(what)") }
    }
}
