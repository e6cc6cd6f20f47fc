// SPDX-License-Identifier: MIT

public import CurlewCore
public import CurlewHTTP

/// A circuit breaker for each origin: calls to a server that keeps failing fail immediately until trial calls succeed.
///
/// `.circuitBreaker()` creates a breaker. Clients that share a breaker share its circuits; they must also share their
/// `TimeSource`.
///
/// `CircuitBreaker.Policy` specifies when a circuit opens, and `CircuitBreaker.Phase` lists which calls pass in each
/// phase. A refused call throws `.refused(by: .circuitBreaker)`, and nothing is sent. `retryAfter` of the error is the
/// time until the next trial: at most 1 s while the circuit is half-open, nil if it is isolated.
///
/// These outcomes are failures:
/// - statuses of 500 and above except 501, and 429 if the policy says so
/// - responses that violate the protocol or break off
/// - timeouts, except waits in queues of this client
/// - hosts without an address or a route, servers and proxies that cannot be reached, and proxies that refuse to
///   connect
///
/// Other outcomes are not failures, in particular other statuses, TLS failures, missing or rejected credentials,
/// refusals by limits, cancellation, and a device that is offline. A call that exceeds its total timeout is not a
/// failure if it spent more than half of that time before it was sent. A rule of the app (`counts:`) may classify
/// outcomes differently.
///
///     closed ──too many failures──▶ open ──its time is over──▶ half-open ──the trials succeed──▶ closed
///                                    ▲                              │
///                                    └─────────a trial fails────────┘
///
/// Guarantees:
/// - While the circuit is half-open, `CircuitBreaker.Policy.trials` calls may be in flight, plus one for each trial
///   that has succeeded, so the load grows with the successes. After `CircuitBreaker.Policy.successes` successes the
///   circuit closes. The first trial that fails or is slow opens it again.
/// - A trial that is cancelled allows the next one immediately. A trial that never ends does so after
///   `CircuitBreaker.Policy.trialTime`.
/// - Calls that were sent in an earlier phase do not count.
/// - A call counts once. If its response body breaks off, its success becomes a failure. If the call was a trial, the
///   circuit opens again.
/// - An isolated circuit lets no call pass until the app resets it.
public final class CircuitBreaker: Sendable {
    /// The rules that decide when circuits open, and for how long.
    public let policy: CircuitBreaker.Policy
    /// The calls that share a circuit.
    public let scope: LimitScope
    let counts: (@Sendable (RetryPolicy.AttemptResult) -> CircuitBreaker.Count)?
    let news = CircuitNews()

    private let table = Locked(Table())

    /// Creates a breaker whose circuits are all closed.
    ///
    /// - `policy`: when circuits open, and for how long. Default `.standard`.
    /// - `scope`: the calls that share a circuit. Default: the calls to one origin.
    /// - `counts`: a rule of the app that classifies each outcome, for example as `.failure` for errors in a response
    ///   with status 200. Not called for requests that were cancelled or never sent. Default nil: the rules above.
    public init(
        _ policy: CircuitBreaker.Policy = .standard, per scope: LimitScope = .origin,
        counts: (@Sendable (RetryPolicy.AttemptResult) -> CircuitBreaker.Count)? = nil
    ) {
        self.policy = policy
        self.scope = scope
        self.counts = counts
    }

    /// Returns the phase of the circuit of a scope; `.closed` if the breaker knows no circuit for it.
    public func phase(of scope: LimitScope.Key) -> CircuitBreaker.Phase {
        table.withLock { $0.circuits[scope] }?.phase ?? .closed
    }

    /// Returns the phase of the circuit of an origin; `.closed` if the breaker knows no circuit for it.
    public func phase(of origin: Origin) -> CircuitBreaker.Phase { phase(of: .origin(origin)) }

    /// The circuits that are not closed, with their phases.
    public var openCircuits: [LimitScope.Key: CircuitBreaker.Phase] {
        table.withLock { $0.circuits }.mapValues(\.phase).filter { $0.value != .closed }
    }

    /// Refuses all calls of a scope until `reset`, whatever the server does.
    public func isolate(_ scope: LimitScope.Key) {
        circuit(of: scope).change { $0.isolate() }
        news.deliver()
    }

    /// Refuses all calls to an origin until `reset`, whatever the server does.
    public func isolate(_ origin: Origin) { isolate(.origin(origin)) }

    /// Closes the circuit of a scope and discards its history. Nil, the default, resets all circuits.
    public func reset(_ scope: LimitScope.Key? = nil) {
        let known = table.withLock { table in
            table.circuits.values.filter { scope == nil || $0.key == scope }
        }
        for circuit in known { circuit.change { $0.reset() } }
        news.deliver()
    }

    /// Closes the circuit of an origin and discards its history.
    public func reset(_ origin: Origin) { reset(.origin(origin)) }

    /// Returns a stream of the phase changes from now on, in order for each scope.
    ///
    /// The stream ends when the breaker is released. The stream buffers the newest 64 changes, so a slow observer loses
    /// older ones. The observers of a client receive the changes that its calls cause as `PolicyNotice`.
    public func changes() -> AsyncStream<Change> { news.changes() }

    deinit { news.finish() }
}

extension CircuitBreaker {
    private struct Table: Sendable {
        var circuits: [LimitScope.Key: Circuit] = [:]
        /// The circuit of the previous call. Consecutive calls often use the same circuit, and this avoids hashing its
        /// key.
        var last: Circuit?
        var uses: UInt64 = 0

        /// Makes room for one more circuit. A circuit that the app has isolated is never removed.
        mutating func trim(to count: Int) {
            while circuits.count >= max(1, count) {
                let idle = circuits.values.map { (circuit: $0, rank: $0.rank) }.filter { $0.rank.isForgettable }
                guard let oldest = idle.min(by: { $0.rank < $1.rank }) else { return }
                circuits[oldest.circuit.key] = nil
            }
        }
    }

    /// Returns the circuit of a scope, creating a closed one if there is none.
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
    /// How a rule of the app classifies an outcome: the result of the closure in `.circuitBreaker(counts:)`.
    public enum Count: Hashable, Sendable {
        /// The rules of `CircuitBreaker` classify the outcome.
        case usual
        /// The server processed the request. The call may still count as slow.
        case success
        /// The server failed.
        case failure
        /// The outcome says nothing about the server and does not count.
        case ignored
    }
}

/// The circuit of one scope, which all calls of the scope share.
final class Circuit: Sendable {
    struct Rank: Comparable {
        let isForgettable: Bool
        let isClosed: Bool
        let lastUse: UInt64

        /// Orders circuits by when they are removed: closed circuits first, then the least recently used.
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

    /// Returns how long a call would be refused now; nil if it may pass. The inner optional is nil if the circuit is
    /// isolated, because isolation has no time limit.
    func refusal(at now: MonotonicInstant) -> Duration?? {
        state.withLock { $0.circuit.refusal(at: now) }
    }

    func isCurrent(_ permit: CircuitState.Permit) -> Bool { state.withLock { $0.circuit.isCurrent(permit) } }

    func use(_ number: UInt64) {
        state.withLock { $0.lastUse = number }
    }

    /// Changes the state and returns the change of phase, if any. The change is queued inside the lock, so that
    /// observers receive changes in order; `CircuitNews.tell()` delivers it.
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
