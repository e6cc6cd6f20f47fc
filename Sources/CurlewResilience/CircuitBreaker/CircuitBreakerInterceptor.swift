// SPDX-License-Identifier: MIT

package import CurlewCore
import CurlewHTTP

/// The interceptor of `.circuitBreaker()`, where its rules are documented.
package struct CircuitBreakerInterceptor: ValidatingInterceptor {
    /// The breaker that holds the circuits.
    public let breaker: CircuitBreaker

    /// Creates an interceptor for a breaker that other clients may share.
    public init(_ breaker: CircuitBreaker) {
        self.breaker = breaker
    }

    /// `.circuitBreaker`.
    public var placement: Placement { .circuitBreaker }

    /// False: a preview sends nothing, so nothing is refused.
    public var runsInPreview: Bool { false }

    /// `.anonymous`: it changes no request.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .anonymous }

    /// Sends the request if the circuit allows it, and reports the outcome to the circuit.
    public func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        var context = next.context
        let time = context.time
        let circuit = breaker.circuit(of: breaker.scope.key(of: request, in: context))
        let pass = CircuitPass(breaker, circuit, context)
        try pass.check(at: time)
        context.departure = pass
        do {
            var response = try await next(request, context: context)
            pass.answer(response, to: request, at: time.now)
            guard response.body.bufferedData == nil else { return response }
            response.body = response.body.onEnd { end in
                if case .failed(let error) = end { pass.breakOff(NetworkError(error), at: time.now) }
            }
            return response
        } catch {
            pass.fail(NetworkError(error), of: request, total: next.context.timeouts.total, at: time.now)
            throw error
        }
    }

    /// Reports invalid values in the policy, and a window in which hardly any call that times out can end.
    public func problem(in setup: Pipeline.Environment) -> String? {
        let policy = breaker.policy
        if let problem = policy.problem { return problem }
        guard let attempt = setup.attemptTimeout, policy.window < attempt * 2 else { return nil }
        return
            "The circuit breaker's window is \(policy.window.brief) and an attempt may take \(attempt.brief), so"
            + " it sees too few of those that time out. Make the window at least twice as long as the attempt timeout."
    }
}

extension CircuitBreakerInterceptor: CustomStringConvertible {
    /// `CircuitBreaker(50 % of 20 in 30 s)`, with the scope if that is not the origin.
    public var description: String {
        let policy = breaker.policy
        let scope = breaker.scope.isOrigin ? "" : " per \(breaker.scope)"
        let share = "\(policy.failureRatio.percent) of \(policy.minimumCalls)"
        return "CircuitBreaker(\(share) in \(policy.window.brief)\(scope))"
    }
}
