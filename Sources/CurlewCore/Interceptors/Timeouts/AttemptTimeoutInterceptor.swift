// SPDX-License-Identifier: MIT

/// Bounds the wait for each response, so that a call has time left for another attempt. Made by
/// `.attemptTimeout(.seconds(5))`.
///
/// An attempt is one sending: each redirect and each retry begins a new one. The limit covers connecting and waiting, up to
/// the head of the response; an attempt that takes longer ends with `.timedOut(.attempt)`. Bodies may take their time: while
/// the body of the request moves the limit stands still, and the body of the response is guarded by `Timeouts.idle`. So it
/// ends no download, upload or stream that makes progress. `Timeouts.attempt` of a call or a client takes its place.
///
/// The call as a whole has its own limit (`Timeouts.total`, 300 s by default). No timer runs here: the transport keeps the
/// deadline.
public struct AttemptTimeoutInterceptor: ValidatingInterceptor {
    /// How long an attempt may wait for the head of its response.
    public let limit: Duration

    /// A limit, which has to be positive.
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
        let limit = context.timeouts.attempt ?? limit
        context.attemptDeadline = context.attemptDeadline.earlier(Deadline(limit, after: context.time.now))
        return try await next(request, context: context)
    }

    /// The limit.
    public func declare(in setup: inout PipelineSetup) {
        setup.attemptTimeout = min(limit, setup.attemptTimeout ?? limit)
    }

    /// A limit that leaves no time. One that is longer than the whole call is none: calls differ in their time.
    public func problem(in setup: PipelineSetup) -> String? {
        limit > .zero
            ? nil : "The attempt timeout is \(limit.brief), so that no attempt can succeed. Make it longer."
    }
}

extension AttemptTimeoutInterceptor: CustomStringConvertible {
    /// `AttemptTimeout(5 s)`
    public var description: String { "AttemptTimeout(\(limit.brief))" }
}
