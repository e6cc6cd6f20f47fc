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

    /// Sends if the circuit lets it, and tells the circuit what came of it.
    public func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        let (breaker, time) = (breaker, next.context.time)
        let circuit = breaker.circuit(of: request.origin)
        let start = time.now
        let permit = try admit(to: circuit, at: start)
        @Sendable func finish(_ outcome: CircuitState.Outcome) {
            var random = SystemRandomNumberGenerator()
            breaker.announce(circuit.change { $0.finish(permit, outcome, at: time.now, using: &random) })
        }
        do {
            var response = try await next(request)
            let took = start.duration(to: time.now) - (response.metrics.queue ?? .zero)
            finish(response.status.isServerFailure(breaker.policy) ? .failure : .success(took))
            guard response.body.bufferedData == nil else { return response }
            response.body = response.body.onEnd { end in
                // The trial is over with its head; an answer that breaks off is one more failure of a closed circuit.
                guard case .failed(let error) = end, case .failure = Self.outcome(of: error), !permit.isTrial else {
                    return
                }
                finish(.failure)
            }
            return response
        } catch {
            finish(Self.outcome(of: error))
            throw error
        }
    }

    private func admit(to circuit: Circuit, at now: MonotonicInstant) throws -> CircuitState.Permit {
        var admission = CircuitState.Admission.refuse(tryAfter: nil)
        breaker.announce(circuit.change { admission = $0.admit(at: now) })
        switch admission {
        case .pass(let permit):
            return permit
        case .refuse(let wait):
            let next =
                wait.map { "It is tried again in \($0.brief)." } ?? "It stays so until CircuitBreaker.reset(_:)."
            var error = NetworkError(
                .refused(by: .circuitBreaker),
                detail: "The circuit of \(circuit.origin) is open: \(circuit.cause). \(next)",
                hint: "Look for the failures of that origin before this one; CircuitBreaker.changes() tells when.")
            error.expectedWait = wait
            throw error
        }
    }

    private static func outcome(of error: any Error) -> CircuitState.Outcome {
        let error = NetworkError(error)
        guard !error.isOffline else { return .unknown }
        switch error.reason {
        case .timedOut(.engine): return .unknown
        case .unreachable, .timedOut, .connectionLost, .badResponse, .proxyFailed(.unreachable),
            .proxyFailed(.refused):
            return .failure
        default: return .unknown
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
