// SPDX-License-Identifier: MIT

import CurlewHTTP

/// Fails calls to an origin that keeps failing, without sending them. Made by `.circuitBreaker()`; the rules are those
/// of `CircuitBreaker`.
public struct CircuitBreakerInterceptor: ValidatingInterceptor {
    /// The circuits.
    public let breaker: CircuitBreaker

    /// A breaker that other clients may share.
    public init(_ breaker: CircuitBreaker) {
        self.breaker = breaker
    }

    /// `.circuitBreaker`.
    public var placement: Placement { .circuitBreaker }

    /// A preview sends nothing, so nothing is refused.
    public var runsInPreview: Bool { false }

    /// `.anonymous`: it changes no request.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .anonymous }

    /// Sends if the circuit allows it, and tells the circuit the outcome.
    public func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        let time = next.context.time
        let pass = CircuitPass(breaker, breaker.circuit(of: request.origin), outer: next.context.departure)
        try pass.check(at: time)
        var context = next.context
        context.departure = pass
        do {
            var response = try await next(request, context: context)
            pass.answer(
                isFailure: response.status.isServerFailure(breaker.policy), queue: response.metrics.queue, at: time.now)
            guard response.body.bufferedData == nil else { return response }
            response.body = response.body.onEnd { end in
                if case .failed(let error) = end { pass.breakOff(NetworkError(error), at: time.now) }
            }
            return response
        } catch {
            pass.fail(NetworkError(error), total: context.timeouts.total, at: time.now)
            throw error
        }
    }

    /// What cannot work in the policy, and a window in which hardly a call that times out is over.
    public func problem(in setup: PipelineSetup) -> String? {
        let policy = breaker.policy
        if let problem = policy.problem { return problem }
        guard let attempt = setup.attemptTimeout, policy.window < attempt * 2 else { return nil }
        return
            "The circuit breaker's window is \(policy.window.brief) and an attempt may take \(attempt.brief), so that"
            + " it sees too few of those that time out. Make the window at least twice as long as the attempt timeout."
    }
}

extension CircuitBreakerInterceptor: CustomStringConvertible {
    /// `CircuitBreaker(50 % of 20 in 30 s)`
    public var description: String {
        let policy = breaker.policy
        let percent = Int((policy.failureRatio * 100).rounded())
        return "CircuitBreaker(\(percent) % of \(policy.minimumCalls) in \(policy.window.brief))"
    }
}

extension HTTPStatus {
    /// The server failed at a call that another server might have done. 501 is about the request.
    fileprivate func isServerFailure(_ policy: CircuitPolicy) -> Bool {
        code >= 500 && code != 501 || policy.countsTooManyRequests && self == .tooManyRequests
    }
}
