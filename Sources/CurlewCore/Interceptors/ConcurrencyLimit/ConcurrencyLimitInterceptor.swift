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
        let (limit, context) = (limit, next.context)
        let key = limit.scope.key(of: request, in: context)
        let arrival = context.time.now
        try await limit.enter(key, context)
        let waited = arrival.duration(to: context.time.now)
        do {
            var response = try await next(request)
            response.body = response.body.onEnd { _ in limit.leave(key) }
            response.addWait(waited, for: "a place")
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

extension HTTPResponse {
    /// Says what was waited before the engine had the request. Times too short to be a wait are left out.
    mutating func addWait(_ waited: Duration, for what: String) {
        guard waited > .milliseconds(1) else { return }
        metrics.queue = (metrics.queue ?? .zero) + waited
        note("waited \(waited.brief) for \(what)")
    }
}
