// SPDX-License-Identifier: MIT

import CurlewCore
public import CurlewHTTP

/// A circuit breaker for each origin: calls to a server that keeps failing fail immediately until trial calls succeed.
/// Created by `.circuitBreaker()`. Clients that share a breaker share its circuits; they must also share their
/// `TimeSource`.
///
/// `CircuitBreaker.Policy` specifies when circuits open, and `CircuitBreaker.Phase` what an open one does. A refused
/// call throws `.refused(by: .circuitBreaker)` without sending a byte, and `retryAfter` specifies when the origin is
/// tried again.
///
/// Failures are statuses of 500 and above except 501, responses that violate the protocol or break off, timeouts, hosts
/// without an address or a route, and servers and proxies that cannot be reached. Not failures are any other status,
/// 429 unless the policy says so; TLS, credentials, limits, cancellation, a machine that is itself offline, waits in
/// queues of this client, and a call that ran out of time after it had spent more than half of its time before it was
/// sent. An app-defined rule (`counts:`) may classify outcomes differently.
///
///     closed ──too many failures──▶ open ──its time is over──▶ half-open ──the trials succeed──▶ closed
///                                    ▲                              │
///                                    └─────────a trial fails────────┘
///
/// Guarantees:
/// - While the circuit is half-open, `CircuitBreaker.Policy.trials` calls may be in flight, plus one for each that
///   has succeeded, so the load grows with the successes. After `CircuitBreaker.Policy.successes` successes the
///   circuit closes; the first failure opens it again. A trial that is cancelled makes room for the next
///   immediately, and a trial that never ends does so after `CircuitBreaker.Policy.trialTime`.
/// - Calls that were sent before the present phase do not count in it.
/// - A call counts once. When the body of a response breaks off, its success becomes a failure. If the call was a
///   trial, the circuit opens again.
/// - An isolated circuit lets no call pass until it is reset.
public final class CircuitBreaker: Sendable {
    /// When circuits open, and for how long.
    public let policy: CircuitBreaker.Policy
    /// The calls that share a circuit.
    public let scope: LimitScope
    let counts: (@Sendable (AttemptResult) -> CircuitBreaker.Count)?
    let news = CircuitNews()

    private let table = Locked(Table())

    /// Creates a breaker whose circuits are all closed.
    ///
    /// - `scope`: the calls that share a circuit. Default each origin.
    /// - `counts`: an app-defined rule that classifies each outcome, such as `.failure` for errors in a response with
    ///   status 200. Not called for requests that were cancelled or never sent. Default nil, the rules above.
    public init(
        _ policy: CircuitBreaker.Policy = .standard, per scope: LimitScope = .origin,
        counts: (@Sendable (AttemptResult) -> CircuitBreaker.Count)? = nil
    ) {
        self.policy = policy
        self.scope = scope
        self.counts = counts
    }

    /// Returns the phase of the circuit of a scope; closed for an unknown scope.
    public func phase(of scope: LimitScope.Key) -> CircuitBreaker.Phase {
        table.withLock { $0.circuits[scope] }?.phase ?? .closed
    }

    /// Returns the phase of the circuit of an origin.
    public func phase(of origin: Origin) -> CircuitBreaker.Phase { phase(of: .origin(origin)) }

    /// The known circuits that are not closed.
    public var openCircuits: [LimitScope.Key: CircuitBreaker.Phase] {
        table.withLock { $0.circuits }.mapValues(\.phase).filter { $0.value != .closed }
    }

    /// Refuses all calls of a scope until `reset`, whatever the server does.
    public func isolate(_ scope: LimitScope.Key) {
        circuit(of: scope).change { $0.isolate() }
        news.tell()
    }

    /// Refuses all calls to an origin until `reset`, whatever the server does.
    public func isolate(_ origin: Origin) { isolate(.origin(origin)) }

    /// Closes the circuit of a scope and discards its history; nil does so for all circuits.
    public func reset(_ scope: LimitScope.Key? = nil) {
        let known = table.withLock { table in
            table.circuits.values.filter { scope == nil || $0.key == scope }
        }
        for circuit in known { circuit.change { $0.reset() } }
        news.tell()
    }

    /// Closes the circuit of an origin and discards its history.
    public func reset(_ origin: Origin) { reset(.origin(origin)) }

    /// Returns the phase changes from now on, in their order for each scope. The stream ends with the breaker. An
    /// observer that does not keep up loses the oldest of 64 changes. Observers of a client are notified of the changes
    /// that its calls cause (`PolicyNotice`).
    public func changes() -> AsyncStream<Change> { news.changes() }

    deinit { news.finish() }
}

extension CircuitBreaker {
    private struct Table: Sendable {
        var circuits: [LimitScope.Key: Circuit] = [:]
        /// The circuit of the previous call. Most calls use the same one, which avoids hashing the origin.
        var last: Circuit?
        var uses: UInt64 = 0

        /// Makes room for one more circuit. A circuit that an app has isolated is never removed.
        mutating func trim(to count: Int) {
            while circuits.count >= max(1, count) {
                let idle = circuits.values.map { (circuit: $0, rank: $0.rank) }.filter { $0.rank.isForgettable }
                guard let oldest = idle.min(by: { $0.rank < $1.rank }) else { return }
                circuits[oldest.circuit.key] = nil
            }
        }
    }

    /// Returns the circuit of a scope, a closed one if there was none.
    func circuit(of key: LimitScope.Key) -> Circuit {
        table.withLock { table in
            table.uses += 1
            if let last = table.last, last.key == key {
                last.use(table.uses)
                return last
            }
            if let known = table.circuits[key] {
                known.use(table.uses)
                table.last = known
                return known
            }
            table.trim(to: policy.origins)
            let new = Circuit(key, policy, news)
            new.use(table.uses)
            table.circuits[key] = new
            table.last = new
            return new
        }
    }
}

extension CircuitBreaker {
    /// The classification of an outcome by an app-defined rule, returned by the closure in `.circuitBreaker(counts:)`.
    public enum Count: Hashable, Sendable {
        /// The classification by the rules of `CircuitBreaker`.
        case usual
        /// The server processed the request. The call may still count as slow.
        case success
        /// The server failed.
        case failure
        /// The outcome indicates nothing about the server.
        case ignored
    }
}

/// The circuit of one scope, shared by its calls in flight.
final class Circuit: Sendable {
    struct Rank: Comparable {
        let isForgettable: Bool
        let isClosed: Bool
        let lastUse: UInt64

        /// Orders circuits by removal: closed circuits before others, then the least recently used.
        static func < (left: Rank, right: Rank) -> Bool {
            left.isClosed == right.isClosed ? left.lastUse < right.lastUse : left.isClosed
        }
    }

    let key: LimitScope.Key
    private let news: CircuitNews
    private let state: Locked<(circuit: CircuitState, lastUse: UInt64)>

    init(_ key: LimitScope.Key, _ policy: CircuitBreaker.Policy, _ news: CircuitNews) {
        self.key = key
        self.news = news
        state = Locked((CircuitState(policy), 0))
    }

    var phase: CircuitBreaker.Phase { state.withLock { $0.circuit.phase } }
    var isClosed: Bool { state.withLock { $0.circuit.phase == .closed } }
    var cause: String { state.withLock { $0.circuit.cause } }

    var rank: Rank {
        state.withLock { state in
            Rank(
                isForgettable: state.circuit.phase != .isolated, isClosed: state.circuit.phase == .closed,
                lastUse: state.lastUse)
        }
    }

    /// Returns how long a call would be refused now; nil if it may pass. The inner optional is nil for a refusal
    /// without an end.
    func refusal(at now: MonotonicInstant) -> Duration?? {
        state.withLock { $0.circuit.refusal(at: now) }
    }

    func isCurrent(_ permit: CircuitState.Permit) -> Bool { state.withLock { $0.circuit.isCurrent(permit) } }

    func use(_ number: UInt64) {
        state.withLock { $0.lastUse = number }
    }

    /// Changes the state. A change of phase is queued for the observers inside the lock, so that observers receive
    /// changes in order; `CircuitNews.tell()` delivers it.
    @discardableResult
    func change(_ change: (inout CircuitState) -> Void) -> CircuitBreaker.Change? {
        state.withLock { state in
            let former = state.circuit.phase
            change(&state.circuit)
            let phase = state.circuit.phase
            guard phase != former else { return nil }
            let isOpen = if case .open = phase { true } else { false }
            let change = CircuitBreaker.Change(
                scope: key, from: former, to: phase, cause: state.circuit.reason,
                openFor: isOpen ? state.circuit.openTime : nil)
            news.add(change)
            return change
        }
    }
}
