// SPDX-License-Identifier: MIT

package import CurlewCore
import CurlewHTTP

/// The passage of one call through a circuit. The circuit is checked twice: on entry, so that no call queues for a
/// server whose circuit is open, and when the request leaves the pipeline, so that a request that was queued before the
/// circuit opened is not sent. Only a call that left the pipeline counts.
final class CircuitPass: SendCheck {
    let outer: (any SendCheck)?
    private let circuit: Circuit
    private let context: ExchangeContext
    private let state = Locked(State())

    private struct State: Sendable {
        var permit: CircuitState.Permit?
        var left = SystemTime.Instant(nanoseconds: 0)
    }

    init(_ circuit: Circuit, _ context: ExchangeContext) {
        self.circuit = circuit
        self.context = context
        outer = context.sendCheck
    }

    /// Throws if the circuit would refuse the call now.
    func check(at time: any TimeSource) throws {
        let wait = circuit.state.withLock { $0.phase == .closed ? nil : $0.refusal(at: time.now) }
        if let wait { throw refusal(wait) }
    }

    func leave(at now: SystemTime.Instant, in context: ExchangeContext) throws {
        // An interceptor closer to the transport may send the request twice, for example after a 401.
        let former = state.withLock { $0.permit }
        var (permit, wait): (CircuitState.Permit?, Duration?)
        change { circuit in
            wait = circuit.refusal(at: now)
            permit = former.flatMap { circuit.isCurrent($0) ? $0 : nil } ?? circuit.admit(at: now)
        }
        guard let permit else { throw refusal(wait ?? .zero) }
        if permit != former { state.withLock { $0 = State(permit: permit, left: now) } }
    }

    /// Records a response whose head has arrived. Status 501 is not a failure: a healthy server sends it for a method
    /// that it does not support.
    func receive(_ response: HTTPResponse, at now: SystemTime.Instant) {
        let isFailure = response.status.code >= 500 && response.status.code != 501
        finish(isFailure ? .failure : .success, at: now)
    }

    /// Records an attempt that ended with an error. A total timeout counts only if at least half of it passed after the
    /// request left the pipeline.
    func fail(_ error: NetworkError, total: Duration?, at now: SystemTime.Instant) {
        guard let left = state.withLock({ $0.permit == nil ? nil : $0.left }) else { return }
        finish(Self.outcome(of: error, after: left.duration(to: now), of: total), at: now)
    }

    private func finish(_ outcome: CircuitState.Outcome, at now: SystemTime.Instant) {
        guard let permit = state.withLock({ $0.permit }) else { return }
        change { $0.finish(permit, outcome, at: now, random: .random(in: 0..<1)) }
    }

    /// Changes the circuit and notifies the observers of the client.
    private func change(_ change: (inout CircuitState) -> Void) {
        if let notice = circuit.change(change) { context.record(.feature(notice)) }
    }

    /// Classifies an error.
    ///
    /// - `sending`: the time since the request left the pipeline.
    /// - `total`: the total timeout of the call. If the call spent most of it in queues or earlier attempts, the server
    ///   had too little time.
    private static func outcome(
        of error: NetworkError, after sending: Duration, of total: Duration?
    ) -> CircuitState.Outcome {
        guard !error.isOffline else { return .unknown }
        switch error.reason {
        case .timedOut(.queue): return .unknown
        case .timedOut(.total): return total.map { sending * 2 >= $0 } ?? true ? .failure : .unknown
        case .unreachable, .timedOut, .connectionLost, .badResponse, .proxyFailed(.unreachable),
            .proxyFailed(.refused):
            return .failure
        default: return .unknown
        }
    }

    private func refusal(_ wait: Duration) -> NetworkError {
        let cause = circuit.state.withLock { $0.cause }
        var error = NetworkError(
            .refused(by: .circuitBreaker),
            detail: "The circuit of \(circuit.key) is open: \(cause). The next trial is in \(wait.brief).",
            hint: "Check the earlier failures of that origin; observers of the client receive them.")
        error.expectedWait = wait
        if context.isObserved {
            let scope = "\(circuit.key)"
            context.record(.feature(Pipeline.PolicyEvent(.refused, by: .circuitBreaker, scope: scope, cause: cause)))
        }
        return error
    }
}

/// Rejects calls to a server that keeps failing. For the rules, see `CircuitBreaker`.
package struct CircuitBreakerInterceptor: Interceptor {
    /// The breaker that holds the circuits.
    public let breaker: CircuitBreaker

    /// Creates an interceptor for a breaker that other clients may share.
    public init(_ breaker: CircuitBreaker) {
        self.breaker = breaker
    }

    /// The traits. A pipeline may contain breakers for different scopes, but only one for each scope.
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
            let response = try await next(request, context: context)
            pass.receive(response, at: time.now)
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
