// SPDX-License-Identifier: MIT

import CurlewHTTP

/// Lets so many exchanges through at a time. Made by `.concurrencyLimit(8)`; the rules are those of `ConcurrencyLimit`.
public struct ConcurrencyLimitInterceptor: ValidatingInterceptor {
    /// What is kept.
    public let limit: ConcurrencyLimit

    /// A limit that other clients may share.
    public init(_ limit: ConcurrencyLimit) {
        self.limit = limit
    }

    /// `.concurrencyLimit`.
    public var placement: Placement { .concurrencyLimit }

    /// A preview sends nothing, so it needs no place.
    public var runsInPreview: Bool { false }

    /// `.anonymous`: it changes no request.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .anonymous }

    /// Waits for a place and keeps it until the body of the answer is over.
    public func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        let limit = limit
        var context = next.context
        let key = limit.scope.key(of: request, in: context)
        let arrival = context.time.now
        try await limit.enter(key, context)
        let waited = context.wait(since: arrival)
        do {
            var response = try await next(request, context: context)
            response.body = response.body.onEnd { _ in limit.leave(key) }
            response.note(waited, for: "a place")
            return response
        } catch {
            limit.leave(key)
            throw error
        }
    }

    /// A limit that lets nothing through.
    public func problem(in setup: PipelineSetup) -> String? {
        limit.places > 0
            ? nil : "The concurrency limit of \(limit.places) lets no call through. Let it be at least one."
    }
}

extension ConcurrencyLimitInterceptor: CustomStringConvertible {
    /// `ConcurrencyLimit(8 per origin)`
    public var description: String { "ConcurrencyLimit(\(limit.places) per \(limit.scope))" }
}

extension ExchangeContext {
    /// Adds a wait in a queue of the pipeline. Times too short to be a wait are left out.
    mutating func wait(since arrival: MonotonicInstant) -> Duration {
        let waited = arrival.duration(to: time.now)
        guard waited > .milliseconds(1) else { return .zero }
        queued += waited
        return waited
    }
}

extension HTTPResponse {
    /// Says what was waited for before the transport had the request.
    mutating func note(_ waited: Duration, for what: String) {
        if waited > .zero { note("waited \(waited.brief) for \(what)") }
    }
}
