// SPDX-License-Identifier: MIT

package import CurlewCore

/// The interceptor of `.attemptTimeout(_:)`, where its rules are documented.
package struct AttemptTimeoutInterceptor: ValidatingInterceptor {
    /// The maximum time that an attempt may wait for its response head.
    public let limit: Duration

    /// Creates an interceptor. `limit` must be positive.
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

    /// Declares the limit.
    public func declare(in setup: inout Pipeline.Environment) {
        setup.attemptTimeout = min(limit, setup.attemptTimeout ?? limit)
    }

    /// Reports a limit that is not positive. A limit longer than the total timeout is allowed, as calls differ in their
    /// timeouts.
    public func problem(in setup: Pipeline.Environment) -> String? {
        limit > .zero
            ? nil : "The attempt timeout is \(limit.brief), so no attempt can succeed. Make it longer."
    }
}

extension AttemptTimeoutInterceptor: CustomStringConvertible {
    /// `AttemptTimeout(5 s)`
    public var description: String { "AttemptTimeout(\(limit.brief))" }
}
