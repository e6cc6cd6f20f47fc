// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// A circuit for each origin: calls to a server that keeps failing fail at once, until trials find it well again.
/// Made by `.circuitBreaker()`; share one among clients that are to learn from each other, with one `TimeSource`.
///
/// `CircuitPolicy` says when circuits open, `CircuitState` what they guarantee. A refused call throws
/// `.refused(by: .circuitBreaker)` without a byte sent, and `retryAfter` says when the origin is tried again.
///
/// What counts as a failure: statuses from 500 on but 501, responses that break the protocol or break off, timeouts, hosts
/// without an address or a route, and servers and proxies that cannot be reached. What does not: any other status, 429
/// unless the policy says so; TLS, credentials, limits, cancellation, a machine that is itself offline, waits in queues of
/// this client, and a call that ran out of time when it had spent more than half of it before it was sent. A rule of the
/// app (`counts:`) may see it otherwise.
public final class CircuitBreaker: Sendable {
    /// When circuits open, and for how long.
    public let policy: CircuitPolicy
    /// What shares a circuit.
    public let scope: LimitScope
    let counts: (@Sendable (AttemptResult) -> CircuitCount)?
    let news = CircuitNews()

    private let table = Locked(Table())

    /// Closed circuits for all origins.
    ///
    /// - `scope`: what shares a circuit. Default each origin.
    /// - `counts`: what the app makes of each outcome, such as `.failure` for errors in a response with status 200. Not asked
    ///   about what was cancelled or never sent. Default nil, the rules above.
    public init(
        _ policy: CircuitPolicy = .standard, per scope: LimitScope = .origin,
        counts: (@Sendable (AttemptResult) -> CircuitCount)? = nil
    ) {
        self.policy = policy
        self.scope = scope
        self.counts = counts
    }

    /// Where the circuit of a scope stands; closed for one that is not known.
    public func phase(of scope: LimitScope.Key) -> CircuitState.Phase {
        table.withLock { $0.circuits[scope] }?.phase ?? .closed
    }

    /// The same for the circuit of an origin.
    public func phase(of origin: Origin) -> CircuitState.Phase { phase(of: .origin(origin)) }

    /// The circuits that are known and not closed.
    public var openCircuits: [LimitScope.Key: CircuitState.Phase] {
        table.withLock { $0.circuits }.mapValues(\.phase).filter { $0.value != .closed }
    }

    /// Lets nothing through to a scope until `reset`, whatever the server does.
    public func isolate(_ scope: LimitScope.Key) {
        circuit(of: scope).change { $0.isolate() }
        news.tell()
    }

    /// The same for the circuit of an origin.
    public func isolate(_ origin: Origin) { isolate(.origin(origin)) }

    /// Closes the circuit of a scope and forgets what has been; nil does so for all.
    public func reset(_ scope: LimitScope.Key? = nil) {
        let known = table.withLock { table in
            table.circuits.values.filter { scope == nil || $0.key == scope }
        }
        for circuit in known { circuit.change { $0.reset() } }
        news.tell()
    }

    /// The same for the circuit of an origin.
    public func reset(_ origin: Origin) { reset(.origin(origin)) }

    /// The changes from now on, in their order for each scope. Ends with the breaker; an observer that does not keep up
    /// loses the oldest of 64. Observers of a client hear of those that its calls cause (`ExchangeEvent.policy`).
    public func changes() -> AsyncStream<Change> { news.changes() }

    deinit { news.finish() }
}

extension CircuitBreaker {
    private struct Table: Sendable {
        var circuits: [LimitScope.Key: Circuit] = [:]
        /// Most calls go where the one before went, which spares hashing the origin.
        var last: Circuit?
        var uses: UInt64 = 0

        /// Makes room for one more. What an app has isolated by hand is never forgotten.
        mutating func trim(to count: Int) {
            while circuits.count >= max(1, count) {
                let idle = circuits.values.map { (circuit: $0, rank: $0.rank) }.filter { $0.rank.isForgettable }
                guard let oldest = idle.min(by: { $0.rank < $1.rank }) else { return }
                circuits[oldest.circuit.key] = nil
            }
        }
    }

    /// The circuit of a scope, a closed one if there was none.
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

/// What a rule of the app makes of an outcome: the answer of the closure in `.circuitBreaker(counts:)`.
public enum CircuitCount: Hashable, Sendable {
    /// What `CircuitBreaker` says without the rule.
    case usual
    /// The server did its work. It may still count as slow.
    case success
    /// The server failed.
    case failure
    /// It says nothing about the server.
    case ignored
}

/// The circuit of one scope, shared by the calls under way.
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

    let key: LimitScope.Key
    private let news: CircuitNews
    private let state: Locked<(circuit: CircuitState, lastUse: UInt64)>

    init(_ key: LimitScope.Key, _ policy: CircuitPolicy, _ news: CircuitNews) {
        self.key = key
        self.news = news
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

    /// Changes the state. If the phase is another one, that is queued for the observers while nobody else can change it, so
    /// that they hear of changes in their order; `CircuitNews.tell()` delivers it.
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
