// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// The passage of one call through a circuit.
///
/// The circuit is checked twice: on entry, so that no call queues for a server whose circuit is open, and when the
/// request leaves the pipeline, so that a request that was queued before the circuit opened is not sent. Only a call
/// that left the pipeline counts.
final class CircuitPass: Departure {
    let outer: (any Departure)?
    private let breaker: CircuitBreaker
    private let circuit: Circuit
    private let context: ExchangeContext
    private let state = Locked(State())

    private struct State: Sendable {
        var permit: CircuitState.Permit?
        var left = MonotonicInstant(nanoseconds: 0)
        var waited = Duration.zero
        var responded: MonotonicInstant?
    }

    init(_ breaker: CircuitBreaker, _ circuit: Circuit, _ context: ExchangeContext) {
        self.breaker = breaker
        self.circuit = circuit
        self.context = context
        outer = context.departure
    }

    /// Throws if the circuit would refuse the call now.
    func check(at time: any TimeSource) throws {
        if circuit.isClosed { return }
        let now = time.now
        if let wait = circuit.refusal(at: now) { throw refusal(wait) }
    }

    func leave(at now: MonotonicInstant, in context: ExchangeContext) throws {
        // An interceptor closer to the transport may send the request twice, for example after a 401.
        if let permit = state.withLock({ $0.permit }), circuit.isCurrent(permit) { return }
        var admission = CircuitState.Admission.refuse(tryAfter: nil)
        change { admission = $0.admit(at: now) }
        switch admission {
        case .refuse(let wait): throw refusal(wait)
        case .pass(let permit):
            state.withLock { $0 = State(permit: permit, left: now, waited: context.queued) }
        }
    }

    /// Records a response whose head has arrived. Whether the call is slow depends on the time since its request left
    /// the pipeline, without the wait in the transport's queue.
    func receive(_ response: HTTPResponse, to request: HTTPRequest, at now: MonotonicInstant) {
        let count = breaker.counts?(result(request, response: response)) ?? .usual
        let isFailure = count == .usual ? response.status.isServerFailure(breaker.policy) : count == .failure
        let (left, waited) = state.withLock { state in
            if !isFailure, count != .ignored { state.responded = now }
            return (state.left, state.waited)
        }
        let took = left.duration(to: now) - max(.zero, (response.metrics.queue ?? .zero) - waited)
        finish(count == .ignored ? .unknown : isFailure ? .failure : .success(took), at: now)
    }

    /// Records an attempt that ended with an error. A total timeout counts only if at least half of it passed after the
    /// request left the pipeline.
    func fail(_ error: NetworkError, of request: HTTPRequest, total: Duration?, at now: MonotonicInstant) {
        let elapsed = state.withLock { $0.permit == nil ? nil : $0.left.duration(to: now) }
        guard let elapsed else { return }
        let count = error.isCancelled ? .usual : breaker.counts?(result(request, error: error)) ?? .usual
        switch count {
        case .usual: finish(Self.outcome(of: error, after: elapsed, of: total), at: now)
        case .success: finish(.success(elapsed), at: now)
        case .failure: finish(.failure, at: now)
        case .ignored: finish(.unknown, at: now)
        }
    }

    private func result(
        _ request: HTTPRequest, response: HTTPResponse? = nil, error: NetworkError? = nil
    ) -> RetryPolicy.AttemptResult {
        RetryPolicy.AttemptResult(
            request, routeName: context.routeName, number: context.attempt, response: response, error: error)
    }

    /// Records that a body broke off after its response head was counted.
    func breakOff(_ error: NetworkError, at now: MonotonicInstant) {
        let (permit, responded) = state.withLock { ($0.permit, $0.responded) }
        guard let permit, let responded, case .failure = Self.outcome(of: error, after: .zero, of: nil) else { return }
        var random = Chance()
        change { $0.bodyFailed(permit, responded: responded, at: now, using: &random) }
    }

    private func finish(_ outcome: CircuitState.Outcome, at now: MonotonicInstant) {
        guard let permit = state.withLock({ $0.permit }) else { return }
        var random = Chance()
        change { $0.finish(permit, outcome, at: now, using: &random) }
    }

    /// Changes the circuit and notifies the observers of the breaker and of the client.
    private func change(_ change: (inout CircuitState) -> Void) {
        guard let change = circuit.change(change) else { return }
        breaker.news.deliver()
        if let notice = change.notice { context.record(.feature(notice)) }
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

    private func refusal(_ wait: Duration?) -> NetworkError {
        let next = wait.map { "The next trial is in \($0.brief)." } ?? "It stays open until CircuitBreaker.reset(_:)."
        var error = NetworkError(
            .refused(by: .circuitBreaker),
            detail: "The circuit of \(circuit.key) is open: \(circuit.cause). \(next)",
            hint: "Check the earlier failures of that origin; CircuitBreaker.changes() reports when they occurred.")
        error.expectedWait = wait
        if context.isObserved {
            let scope = "\(circuit.key)"
            context.record(.feature(PolicyNotice(.refused, by: .circuitBreaker, scope: scope, cause: circuit.cause)))
        }
        return error
    }
}

extension HTTPStatus {
    /// Whether the status counts as a failure of the server: 500 and above, and 429 if the policy counts it. Status 501
    /// does not count: a healthy server sends it for a method that it does not support.
    fileprivate func isServerFailure(_ policy: CircuitBreaker.Policy) -> Bool {
        code >= 500 && code != 501 || policy.countsTooManyRequests && self == .tooManyRequests
    }
}

/// The system's random numbers. Unlike the system's generator, the type is not empty: ThreadSanitizer tracks the
/// address of an `inout` argument, and an empty value has none.
private struct Chance: RandomNumberGenerator {
    private var count: UInt64 = 0

    mutating func next() -> UInt64 {
        count &+= 1
        var system = SystemRandomNumberGenerator()
        return system.next()
    }
}
