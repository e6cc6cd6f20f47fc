// SPDX-License-Identifier: MIT

package import CurlewCore

/// Limits the time that each attempt may wait for its response head. For the rules, see `.attemptTimeout(_:)`.
package struct AttemptTimeoutInterceptor: Interceptor {
    /// The maximum time that an attempt may wait for its response head.
    public let limit: Duration

    /// Creates an interceptor with a limit, which must be positive.
    public init(_ limit: Duration) {
        self.limit = limit
    }

    /// Previews run the interceptor, because the deadline of the attempt holds for them too. Other interceptors compare
    /// the limit with their own durations.
    package var traits: InterceptorTraits {
        var traits = InterceptorTraits(.attemptTimeout, runsInPreview: true, problem: problem(in:))
        traits.uniqueKind = InterceptorTraits.UniqueKind("attempt timeouts", "only the shortest has an effect")
        traits.attemptTimeout = limit
        return traits
    }

    /// Sets the deadline of the attempt, unless it has an earlier one, and runs the rest of the pipeline.
    public func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        var context = next.context
        let limit = context.timeouts.attempt ?? limit
        context.attemptDeadline = context.attemptDeadline.earlier(Deadline(limit, after: context.time.now))
        return try await next(request, context: context)
    }

    /// Returns an error for a limit that is not positive. A limit longer than the total timeout is allowed, because
    /// timeouts differ between calls.
    func problem(in setup: Pipeline.Environment) -> String? {
        limit > .zero
            ? nil : "The attempt timeout is \(limit.brief), so no attempt can succeed. Make it longer."
    }
}

extension AttemptTimeoutInterceptor: CustomStringConvertible {
    /// A description such as `AttemptTimeout(5 s)`.
    public var description: String { "AttemptTimeout(\(limit.brief))" }
}
