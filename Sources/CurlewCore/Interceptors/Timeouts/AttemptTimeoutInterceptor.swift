// SPDX-License-Identifier: MIT

/// Bounds each attempt, so that a call has time left for another one. Made by `.attemptTimeout(.seconds(5))`.
///
/// An attempt is one sending: each redirect and each retry begins a new one. The bound covers the wait for the answer
/// and its body; one that is over ends in `.timedOut(.attempt)`. It never lasts longer than the call as a whole
/// (`Timeouts.total`, 300 s by default), and it is no timer: the transport keeps the deadline that this sets.
public struct AttemptTimeoutInterceptor: Interceptor {
    /// How long one attempt may take.
    public let limit: Duration

    /// A bound of `limit`, which has to be positive.
    public init(_ limit: Duration) {
        self.limit = limit
    }

    /// `.attemptTimeout`, next to the transport.
    public var placement: Placement { .attemptTimeout }

    /// Sets the deadline of the attempt, unless an earlier one is set, and runs the rest of the chain.
    public func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        var context = next.context
        context.attemptDeadline = context.attemptDeadline.earlier(Deadline(limit, after: context.time.now))
        return try await next(request, context: context)
    }

    /// A bound that leaves no time.
    public func problem(in setup: PipelineSetup) -> String? {
        limit > .zero ? nil : "The attempt timeout is \(limit.brief), so that no attempt can succeed. Make it longer."
    }
}

extension AttemptTimeoutInterceptor: CustomStringConvertible {
    /// `AttemptTimeout(5 s)`
    public var description: String { "AttemptTimeout(\(limit.brief))" }
}
