// SPDX-License-Identifier: MIT

package import CurlewCore
import CurlewHTTP

/// Rejects calls to a server that keeps failing. For the rules, see `CircuitBreaker`.
package struct CircuitBreakerInterceptor: Interceptor {
    /// The breaker that holds the circuits.
    public let breaker: CircuitBreaker

    /// Creates an interceptor for a breaker that other clients may share.
    public init(_ breaker: CircuitBreaker) {
        self.breaker = breaker
    }

    /// The kind that must be unique includes the scope, so that a pipeline can combine breakers of different scopes.
    package var traits: InterceptorTraits {
        var traits = InterceptorTraits(.circuitBreaker, problem: problem(in:))
        traits.uniqueKind = ("circuit breakers for each \(breaker.scope)", "each failure counts twice")
        return traits
    }

    /// Sends the request if the circuit lets it pass, and records the outcome in the circuit.
    public func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        var context = next.context
        let time = context.time
        let circuit = breaker.circuit(of: breaker.scope.key(of: request, in: context))
        let pass = CircuitPass(circuit, context)
        try pass.check(at: time)
        context.sendCheck = pass
        do {
            var response = try await next(request, context: context)
            pass.receive(response, at: time.now)
            guard response.body.bufferedData == nil else { return response }
            response.body = response.body.onEnd { end in
                if case .failed(let error) = end { pass.breakOff(NetworkError(error), at: time.now) }
            }
            return response
        } catch {
            pass.fail(NetworkError(error), total: next.context.timeouts.total, at: time.now)
            throw error
        }
    }

    /// Returns an error for invalid values in the policy, and for a window shorter than two attempt timeouts, in which
    /// too few calls that time out would be counted.
    func problem(in setup: Pipeline.Environment) -> String? {
        let policy = breaker.policy
        if let problem = policy.problem { return problem }
        guard let attempt = setup.attemptTimeout, policy.window < attempt * 2 else { return nil }
        return
            "The circuit breaker's window is \(policy.window.brief) and an attempt may take \(attempt.brief), so"
            + " it sees too few of those that time out. Make the window at least twice as long as the attempt timeout."
    }
}

extension CircuitBreakerInterceptor: CustomStringConvertible {
    /// A description such as `CircuitBreaker(50 % of 20 in 30 s)`, with the scope if it is not `.origin`.
    public var description: String {
        let policy = breaker.policy
        let scope = breaker.scope.isOrigin ? "" : " per \(breaker.scope)"
        let ratio = policy.failureRatio
        // A value outside 0...1 is shown unchanged.
        let share = (0...1).contains(ratio) ? "\(Int((ratio * 100).rounded())) %" : "\(ratio)"
        return "CircuitBreaker(\(share) of \(policy.minimumCalls) in \(policy.window.brief)\(scope))"
    }
}
