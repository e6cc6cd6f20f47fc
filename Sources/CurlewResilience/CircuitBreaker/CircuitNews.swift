// SPDX-License-Identifier: MIT

import CurlewCore
public import CurlewHTTP

extension CircuitBreaker {
    /// A change of the phase of a circuit, as `CircuitBreaker.changes()` reports it.
    public struct Change: Hashable, Sendable {
        /// The scope of the circuit: all calls, an origin, a route or a key.
        public let scope: LimitScope.Key
        /// The previous phase.
        public let from: CircuitBreaker.Phase
        /// The new phase.
        public let to: CircuitBreaker.Phase
        /// The cause of the change, in a few words.
        public let cause: String
        /// How long the circuit stays open; nil if the new phase is not `.open`.
        public let openFor: Duration?

        /// The origin of the circuit; nil if its scope is not an origin.
        public var origin: Origin? {
            if case .origin(let origin) = scope { origin } else { nil }
        }

        /// The notice for observers of a client; nil if the app isolated the circuit.
        var notice: PolicyNotice? {
            let kind: PolicyNotice.Kind
            switch to {
            case .open: kind = .circuitOpened(openFor ?? .zero)
            case .halfOpen: kind = .circuitHalfOpened
            case .closed: kind = .circuitClosed
            case .isolated: return nil
            }
            return PolicyNotice(kind, by: .circuitBreaker, scope: "\(scope)", cause: cause)
        }
    }
}

extension CircuitBreaker.Change: CustomStringConvertible {
    /// A description on one line, such as
    /// `https://a.test: closed → open for 4.2 s, because 10 of 20 calls failed in 30 s`.
    public var description: String {
        let time = openFor.map { " for \($0.brief)" } ?? ""
        return "\(scope): \(from) → \(to)\(time), because \(cause)"
    }
}

extension CircuitBreaker.Phase: CustomStringConvertible {
    /// The name of the phase: `closed`, `open`, `half open` or `isolated`.
    public var description: String {
        switch self {
        case .closed: "closed"
        case .open: "open"
        case .halfOpen: "half open"
        case .isolated: "isolated"
        }
    }
}

/// Delivers the phase changes of a breaker to its observers, in the order in which they occurred.
final class CircuitNews: Sendable {
    private struct State: Sendable {
        var waiting: [CircuitBreaker.Change] = []
        var isDelivering = false
        var observers: [UInt64: AsyncStream<CircuitBreaker.Change>.Continuation] = [:]
        var lastObserver: UInt64 = 0
    }

    private let state = Locked(State())

    func changes() -> AsyncStream<CircuitBreaker.Change> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: CircuitBreaker.Change.self, bufferingPolicy: .bufferingNewest(64))
        let number = state.withLock { state in
            state.lastObserver += 1
            state.observers[state.lastObserver] = continuation
            return state.lastObserver
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.observers[number] = nil }
        }
        return stream
    }

    /// Queues a change. Called inside the lock of its circuit.
    func add(_ change: CircuitBreaker.Change) {
        state.withLock { state in
            if !state.observers.isEmpty { state.waiting.append(change) }
        }
    }

    /// Delivers the queued changes. If another thread is already delivering, that thread delivers these changes too.
    func deliver() {
        var isMine = false
        while true {
            let next = state.withLock {
                state -> (CircuitBreaker.Change, [AsyncStream<CircuitBreaker.Change>.Continuation])? in
                guard isMine || !state.isDelivering else { return nil }
                isMine = !state.waiting.isEmpty
                state.isDelivering = isMine
                return isMine ? (state.waiting.removeFirst(), Array(state.observers.values)) : nil
            }
            guard let (change, observers) = next else { return }
            for observer in observers { observer.yield(change) }
        }
    }

    func finish() {
        for observer in state.withLock({ Array($0.observers.values) }) { observer.finish() }
    }
}
