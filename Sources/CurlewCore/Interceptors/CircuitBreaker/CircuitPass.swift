// SPDX-License-Identifier: MIT

import CurlewHTTP

/// One call on its way through a circuit.
///
/// The circuit is asked twice: at once, so that no call queues for a server that is given up, and when the request leaves the
/// pipeline, so that nothing is sent that was queued before the circuit opened. A call counts only if it left.
final class CircuitPass: Departure {
    let outer: (any Departure)?
    private let breaker: CircuitBreaker
    private let circuit: Circuit
    private let context: ExchangeContext
    private let state = LockedField(State())

    private struct State: Sendable {
        var permit: CircuitState.Permit?
        var left = MonotonicInstant(nanoseconds: 0)
        var waited = Duration.zero
        var answered: MonotonicInstant?
    }

    init(_ breaker: CircuitBreaker, _ circuit: Circuit, _ context: ExchangeContext) {
        self.breaker = breaker
        self.circuit = circuit
        self.context = context
        outer = context.departure
    }

    /// Refuses at once what the circuit would refuse now.
    func check(at time: any TimeSource) throws {
        if circuit.isClosed { return }
        let now = time.now
        if let wait = circuit.refusal(at: now) { throw refusal(wait) }
    }

    func leave(at now: MonotonicInstant, in context: ExchangeContext) throws {
        // An interceptor further in may send twice, as after a 401.
        if let permit = state.withLock({ $0.permit }), circuit.isCurrent(permit) { return }
        var admission = CircuitState.Admission.refuse(tryAfter: nil)
        change { admission = $0.admit(at: now) }
        switch admission {
        case .refuse(let wait): throw refusal(wait)
        case .pass(let permit):
            state.withLock { $0 = State(permit: permit, left: now, waited: context.queued) }
        }
    }

    /// The head of the response is there. Only what came after the request had left counts as slow, without the transport's
    /// own queue.
    func answer(_ response: HTTPResponse, to request: HTTPRequest, at now: MonotonicInstant) {
        let count = breaker.counts?(result(request, response: response)) ?? .usual
        let isFailure = count == .usual ? response.status.isServerFailure(breaker.policy) : count == .failure
        let (left, waited) = state.withLock { state in
            if !isFailure, count != .ignored { state.answered = now }
            return (state.left, state.waited)
        }
        let took = left.duration(to: now) - max(.zero, (response.metrics.queue ?? .zero) - waited)
        finish(count == .ignored ? .unknown : isFailure ? .failure : .success(took), at: now)
    }

    /// The attempt ended with an error: its outcome follows from the time that it had.
    func fail(_ error: NetworkError, of request: HTTPRequest, total: Duration?, at now: MonotonicInstant) {
        let sending = state.withLock { $0.permit == nil ? nil : $0.left.duration(to: now) }
        guard let sending else { return }
        let count = error.isCancelled ? .usual : breaker.counts?(result(request, error: error)) ?? .usual
        switch count {
        case .usual: finish(Self.outcome(of: error, after: sending, of: total), at: now)
        case .success: finish(.success(sending), at: now)
        case .failure: finish(.failure, at: now)
        case .ignored: finish(.unknown, at: now)
        }
    }

    private func result(
        _ request: HTTPRequest, response: HTTPResponse? = nil, error: NetworkError? = nil
    ) -> AttemptResult {
        AttemptResult(
            request, routeName: context.routeName, number: context.attempt, response: response, error: error)
    }

    /// The body broke off after the head had counted.
    func breakOff(_ error: NetworkError, at now: MonotonicInstant) {
        let (permit, answered) = state.withLock { ($0.permit, $0.answered) }
        guard let permit, let answered, case .failure = Self.outcome(of: error, after: .zero, of: nil) else { return }
        var random = Chance()
        change { $0.bodyFailed(permit, answered: answered, at: now, using: &random) }
    }

    private func finish(_ outcome: CircuitState.Outcome, at now: MonotonicInstant) {
        guard let permit = state.withLock({ $0.permit }) else { return }
        var random = Chance()
        change { $0.finish(permit, outcome, at: now, using: &random) }
    }

    /// Changes the circuit and tells those who watch it, and the observers of the call.
    private func change(_ change: (inout CircuitState) -> Void) {
        guard let change = circuit.change(change) else { return }
        breaker.news.tell()
        if let notice = change.notice { context.record(.policy(notice)) }
    }

    /// What an error says about the server.
    ///
    /// - `sending`: the time since the request left; `total`: that of the whole call. A call that had spent most of its time
    ///   in queues or earlier attempts left the server too little.
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
        let next = wait.map { "It is tried again in \($0.brief)." } ?? "It stays so until CircuitBreaker.reset(_:)."
        var error = NetworkError(
            .refused(by: .circuitBreaker),
            detail: "The circuit of \(circuit.key) is open: \(circuit.cause). \(next)",
            hint: "Look for the failures of that origin before this one; CircuitBreaker.changes() tells when.")
        error.expectedWait = wait
        if context.isObserved {
            let scope = "\(circuit.key)"
            context.record(.policy(PolicyNotice(.refused, by: .circuitBreaker, scope: scope, cause: circuit.cause)))
        }
        return error
    }
}

extension HTTPStatus {
    /// The server failed at a call that another server might have done. 501 is about the request.
    fileprivate func isServerFailure(_ policy: CircuitPolicy) -> Bool {
        code >= 500 && code != 501 || policy.countsTooManyRequests && self == .tooManyRequests
    }
}

/// The system's random numbers. Not empty as their generator is: ThreadSanitizer follows the address of what is passed
/// `inout`, and an empty value has none.
private struct Chance: RandomNumberGenerator {
    private var count: UInt64 = 0

    mutating func next() -> UInt64 {
        count &+= 1
        var system = SystemRandomNumberGenerator()
        return system.next()
    }
}
