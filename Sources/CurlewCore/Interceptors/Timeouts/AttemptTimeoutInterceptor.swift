// SPDX-License-Identifier: MIT

/// Bounds each attempt, so that a call has time left for another one. Made by `.attemptTimeout(.seconds(5))`.
///
/// An attempt is one sending: each redirect and each retry begins a new one. The bound covers the wait for the answer
/// and its body; one that is over ends in `.timedOut(.attempt)`. It never lasts longer than the call as a whole
/// (`Timeouts.total`, 300 s by default), and it is no timer: the transport keeps the deadline that this sets.
public struct AttemptTimeoutInterceptor: ValidatingInterceptor {
    /// How long one attempt may take.
    public let limit: Duration

    /// A bound of `limit`, which has to be positive.
    public init(_ limit: Duration) {
        self.limit = limit
    }

    /// `.attemptTimeout`, next to the transport.
    public var placement: Placement { .attemptTimeout }

    /// `.anonymous`: it changes no request.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .anonymous }

    /// Sets the deadline of the attempt, unless an earlier one is set, and runs the rest of the chain.
    public func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        var context = next.context
        context.attemptDeadline = context.attemptDeadline.earlier(Deadline(limit, after: context.time.now))
        return try await next(request, context: context)
    }

    /// The bound.
    public func declare(in setup: inout PipelineSetup) {
        setup.attemptTimeout = min(limit, setup.attemptTimeout ?? limit)
    }

    /// A bound that leaves no time, or that the call as a whole reaches first.
    public func problem(in setup: PipelineSetup) -> String? {
        guard limit > .zero else {
            return "The attempt timeout is \(limit.brief), so that no attempt can succeed. Make it longer."
        }
        guard let total = setup.totalTimeout, limit >= total else { return nil }
        return "An attempt may take \(limit.brief) and the whole call \(total.brief), so that the attempt timeout never"
            + " acts. Make it shorter, or Timeouts.total longer."
    }
}

extension AttemptTimeoutInterceptor: CustomStringConvertible {
    /// `AttemptTimeout(5 s)`
    public var description: String { "AttemptTimeout(\(limit.brief))" }
}
