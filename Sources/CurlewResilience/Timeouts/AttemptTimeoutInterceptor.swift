// SPDX-License-Identifier: MIT

package import CurlewCore

/// Limits the time that each attempt may wait for its response head. For the rules, see `.attemptTimeout(_:)`.
package struct AttemptTimeoutInterceptor: ValidatingInterceptor, PolicyInterceptor {
    /// The maximum time that an attempt may wait for its response head.
    public let limit: Duration

    /// Creates an interceptor with a limit, which must be positive.
    public init(_ limit: Duration) {
        self.limit = limit
    }

    /// The placement of the interceptor: `.attemptTimeout`, next to the transport.
    public var placement: Placement { .attemptTimeout }

    /// True: the deadline of the attempt holds for a preview too.
    public var runsInPreview: Bool { true }

    /// Sets the deadline of the attempt, unless it has an earlier one, and runs the rest of the pipeline.
    public func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        var context = next.context
        let limit = context.timeouts.attempt ?? limit
        context.attemptDeadline = context.attemptDeadline.earlier(Deadline(limit, after: context.time.now))
        return try await next(request, context: context)
    }

    /// Declares the limit, which other interceptors compare with their own durations.
    public func declare(in setup: inout Pipeline.Environment) {
        setup.attemptTimeout = min(limit, setup.attemptTimeout ?? limit)
    }

    /// Returns an error for a limit that is not positive. A limit longer than the total timeout is allowed, because
    /// timeouts differ between calls.
    public func problem(in setup: Pipeline.Environment) -> String? {
        limit > .zero
            ? nil : "The attempt timeout is \(limit.brief), so no attempt can succeed. Make it longer."
    }
}

extension AttemptTimeoutInterceptor: CustomStringConvertible {
    /// A description such as `AttemptTimeout(5 s)`.
    public var description: String { "AttemptTimeout(\(limit.brief))" }
}
