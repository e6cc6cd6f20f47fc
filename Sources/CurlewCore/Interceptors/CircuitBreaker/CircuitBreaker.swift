// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// A circuit for each origin: calls to a server that keeps failing fail at once, until a trial finds it well again.
/// Made by `.circuitBreaker()`; share one among clients that are to learn from each other, with one `TimeSource`.
///
/// `CircuitPolicy` says when circuits open, `CircuitState` what they guarantee. A refused call throws
/// `.refused(by: .circuitBreaker)` without a byte sent, and `retryAfter` says when the origin is tried again.
///
/// What counts as a failure: statuses from 500 on but 501, responses that break the protocol or break off, timeouts, hosts
/// without an address or a route, and servers and proxies that cannot be reached. What does not: any other status, 429
/// unless the policy says so; TLS, credentials, limits, cancellation, a machine that is itself offline, waits in queues of
/// this client, and a call that ran out of time when it had spent more than half of it before it was sent.
public final class CircuitBreaker: Sendable {
    /// A circuit moved from one phase to another.
    public struct Change: Hashable, Sendable {
        /// Whose circuit.
        public let origin: Origin
        /// The phase it left.
        public let from: CircuitState.Phase
        /// The phase it is in.
        public let to: CircuitState.Phase
        /// Why it opened, in a few words, when it did.
        public let cause: String
    }

    /// When circuits open, and for how long.
    public let policy: CircuitPolicy

    private let table: Locked<Table>

    /// Closed circuits for all origins.
    public init(_ policy: CircuitPolicy = .standard) {
        self.policy = policy
        table = Locked(Table())
    }

    /// Where the circuit of `origin` stands; closed for an origin that is not known.
    public func phase(of origin: Origin) -> CircuitState.Phase {
        table.withLock { $0.circuits[origin] }?.phase ?? .closed
    }

    /// The circuits that are known and not closed.
    public var openCircuits: [Origin: CircuitState.Phase] {
        table.withLock { $0.circuits }.mapValues(\.phase).filter { $0.value != .closed }
    }

    /// Lets nothing through to `origin` until `reset`, whatever the server does.
    public func isolate(_ origin: Origin) {
        announce(circuit(of: origin).change { $0.isolate() })
    }

    /// Closes the circuit of `origin` and forgets what has been; nil does so for all.
    public func reset(_ origin: Origin? = nil) {
        let known = table.withLock { table in
            table.circuits.values.filter { origin == nil || $0.origin == origin }
        }
        for circuit in known { announce(circuit.change { $0.reset() }) }
    }

    /// The changes from now on, in their order for each origin. Ends with the breaker; an observer that does not keep up
    /// loses the oldest of 64.
    public func changes() -> AsyncStream<Change> {
        let (stream, continuation) = AsyncStream.makeStream(of: Change.self, bufferingPolicy: .bufferingNewest(64))
        let number = table.withLock { table in
            table.lastObserver += 1
            table.observers[table.lastObserver] = continuation
            return table.lastObserver
        }
        continuation.onTermination = { [weak self] _ in
            self?.table.withLock { $0.observers[number] = nil }
        }
        return stream
    }

    deinit {
        for observer in table.withLock({ $0.observers.values.map { $0 } }) { observer.finish() }
    }
}

extension CircuitBreaker {
    private struct Table: Sendable {
        var circuits: [Origin: Circuit] = [:]
        /// Most calls go where the one before went, which spares hashing the origin.
        var last: Circuit?
        var uses: UInt64 = 0
        var observers: [UInt64: AsyncStream<Change>.Continuation] = [:]
        var lastObserver: UInt64 = 0

        /// Makes room for one more. What an app has isolated by hand is never forgotten.
        mutating func trim(to count: Int) {
            while circuits.count >= max(1, count) {
                let idle = circuits.values.map { (circuit: $0, rank: $0.rank) }.filter { $0.rank.isForgettable }
                guard let oldest = idle.min(by: { $0.rank < $1.rank }) else { return }
                circuits[oldest.circuit.origin] = nil
            }
        }
    }

    /// The circuit of `origin`, a closed one if there was none.
    func circuit(of origin: Origin) -> Circuit {
        table.withLock { table in
            table.uses += 1
            if let last = table.last, last.origin == origin {
                last.use(table.uses)
                return last
            }
            if let known = table.circuits[origin] {
                known.use(table.uses)
                table.last = known
                return known
            }
            table.trim(to: policy.origins)
            let new = Circuit(origin, policy)
            new.use(table.uses)
            table.circuits[origin] = new
            table.last = new
            return new
        }
    }

    /// Tells the observers, if there was a change.
    func announce(_ change: Change?) {
        guard let change else { return }
        for observer in table.withLock({ $0.observers.values.map { $0 } }) { observer.yield(change) }
    }
}

/// The circuit of one origin, shared by the calls under way.
final class Circuit: Sendable {
    struct Rank: Comparable {
        let isForgettable: Bool
        let isClosed: Bool
        let lastUse: UInt64

        /// Sooner forgotten: closed circuits before others, then those that were not used for longer.
        static func < (left: Rank, right: Rank) -> Bool {
            left.isClosed == right.isClosed ? left.lastUse < right.lastUse : left.isClosed
        }
    }

    let origin: Origin
    private let state: Locked<(circuit: CircuitState, lastUse: UInt64)>

    init(_ origin: Origin, _ policy: CircuitPolicy) {
        self.origin = origin
        state = Locked((CircuitState(policy), 0))
    }

    var phase: CircuitState.Phase { state.withLock { $0.circuit.phase } }
    var isClosed: Bool { state.withLock { $0.circuit.phase == .closed } }
    var cause: String { state.withLock { $0.circuit.cause } }

    var rank: Rank {
        state.withLock { state in
            Rank(
                isForgettable: state.circuit.phase != .isolated, isClosed: state.circuit.phase == .closed,
                lastUse: state.lastUse)
        }
    }

    /// How long a call would be refused now; nil if it may pass. A refusal without an end is a nil inside.
    func refusal(at now: MonotonicInstant) -> Duration?? {
        state.withLock { $0.circuit.refusal(at: now) }
    }

    func isCurrent(_ permit: CircuitState.Permit) -> Bool { state.withLock { $0.circuit.isCurrent(permit) } }

    func use(_ number: UInt64) {
        state.withLock { $0.lastUse = number }
    }

    /// Changes the state, and says so if the phase is another one.
    func change(_ change: (inout CircuitState) -> Void) -> CircuitBreaker.Change? {
        state.withLock { state in
            let former = state.circuit.phase
            change(&state.circuit)
            let phase = state.circuit.phase
            guard phase != former else { return nil }
            let cause: String
            switch phase {
            case .open, .isolated: cause = state.circuit.cause
            case .closed, .halfOpen: cause = ""
            }
            return CircuitBreaker.Change(origin: origin, from: former, to: phase, cause: cause)
        }
    }
}
