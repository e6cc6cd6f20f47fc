// SPDX-License-Identifier: MIT

import CurlewCore

/// A circuit breaker for each origin: calls to a server that keeps failing fail immediately until trial calls succeed.
///
/// `.circuitBreaker()` creates a breaker. Clients that share a breaker share its circuits; they must also share their
/// `TimeSource`.
///
/// `CircuitBreaker.Policy` specifies when a circuit opens, and `CircuitBreaker.Phase` lists which calls pass in each
/// phase. A refused call throws `.refused(by: .circuitBreaker)`, and nothing is sent. `retryAfter` of the error is the
/// time until the next trial: at most 1 s while the circuit is half-open.
///
/// These outcomes are failures:
/// - statuses of 500 and above except 501
/// - responses that violate the protocol, or break off before the end of their heads
/// - timeouts, except waits in queues of this client
/// - hosts without an address or a route, servers and proxies that cannot be reached, and proxies that refuse to
///   connect
///
/// Other outcomes are not failures, in particular other statuses, TLS failures, missing or rejected credentials,
/// refusals by limits, cancellation, and a device that is offline. A call that exceeds its total timeout is not a
/// failure if it spent more than half of that time before it was sent.
///
///     closed ──too many failures──▶ open ──its time is over──▶ half-open ──the trials succeed──▶ closed
///                                    ▲                              │
///                                    └─────────a trial fails────────┘
///
/// Guarantees:
/// - While the circuit is half-open, one trial may be in flight. After `trials` successes the circuit closes. The
///   first trial that fails opens it again.
/// - A trial that is cancelled allows the next one immediately, and any other trial after 30 s at the latest.
/// - Calls that were sent in an earlier phase do not count.
/// - A call counts once, when the head of its response arrives. The end of the body does not count.
/// - At most 256 circuits are remembered. Closed ones are forgotten first, in order of their last use.
public final class CircuitBreaker: Sendable {
    let policy: CircuitBreaker.Policy
    let scope: LimitScope

    private static let maximumCircuits = 256
    private let table = Locked(Table())

    /// Creates a breaker whose circuits are all closed.
    ///
    /// - `policy`: when circuits open, and for how long. Default `.standard`.
    /// - `scope`: the calls that share a circuit. Default: the calls to one origin.
    public init(_ policy: CircuitBreaker.Policy = .standard, per scope: LimitScope = .origin) {
        self.policy = policy
        self.scope = scope
    }

    /// Returns the phase of the circuit with this key; `.closed` if the breaker knows no such circuit.
    public func phase(of scope: LimitScope.Key) -> CircuitBreaker.Phase {
        table.withLock { $0.circuits[scope] }?.state.withLock { $0.phase } ?? .closed
    }

    /// The phases of the circuits that are open or half-open, by the keys of the circuits.
    public var openCircuits: [LimitScope.Key: CircuitBreaker.Phase] {
        table.withLock { $0.circuits }.mapValues { $0.state.withLock { $0.phase } }.filter { $0.value != .closed }
    }
}

extension CircuitBreaker {
    private struct Table: Sendable {
        var circuits: [LimitScope.Key: Circuit] = [:]
        /// The circuit of the previous call. Consecutive calls often use the same circuit, and this avoids hashing its
        /// key.
        var last: Circuit?
        var uses: UInt64 = 0
    }

    /// Returns the circuit of a scope, creating a closed one if there is none.
    func circuit(of key: LimitScope.Key) -> Circuit {
        table.withLock { table in
            table.uses += 1
            let known = table.last?.key == key ? table.last : table.circuits[key]
            let circuit = known ?? Circuit(key, policy)
            circuit.state.withLock { $0.lastUse = table.uses }
            table.last = circuit
            guard known == nil else { return circuit }
            if table.circuits.count >= Self.maximumCircuits,
                let oldest = table.circuits.values.min(by: { $0.rank < $1.rank })
            {
                table.circuits[oldest.key] = nil
            }
            table.circuits[key] = circuit
            return circuit
        }
    }
}

/// The circuit of one scope, which all calls of the scope share.
final class Circuit: Sendable {
    let key: LimitScope.Key
    let state: Locked<CircuitState>

    init(_ key: LimitScope.Key, _ policy: CircuitBreaker.Policy) {
        self.key = key
        state = Locked(CircuitState(policy))
    }

    /// The order in which circuits are forgotten: closed circuits first, then the least recently used.
    fileprivate var rank: (isOpen: Int, lastUse: UInt64) {
        state.withLock { ($0.phase == .closed ? 0 : 1, $0.lastUse) }
    }

    /// Changes the state. Returns the event of its new phase; nil if the phase stays.
    func change(_ change: (inout CircuitState) -> Void) -> Pipeline.PolicyEvent? {
        state.withLock { state in
            let former = state.phase
            change(&state)
            guard state.phase != former else { return nil }
            let (kind, cause): (Pipeline.PolicyEvent.Kind, String) =
                switch state.phase {
                case .open: (.circuitOpened(state.openTime), state.cause)
                case .halfOpen: (.circuitHalfOpened, "")
                case .closed: (.circuitClosed, "")
                }
            return Pipeline.PolicyEvent(kind, by: .circuitBreaker, scope: "\(key)", cause: cause)
        }
    }
}

extension CircuitBreaker {
    /// The rules that decide when a circuit opens, and for how long.
    ///
    ///     .circuitBreaker(CircuitBreaker.Policy(failureRatio: 0.3, trials: 3))
    public struct Policy: Hashable, Sendable {
        let failureRatio: Double
        let minimumCalls: Int
        let window: Duration
        let openTime: Duration
        let trials: Int

        /// Creates a policy. With a value outside of the ranges below, every call throws `.configuration`.
        ///
        /// - `failureRatio`: the ratio of failed calls in the window at which the circuit opens: above 0, at most 1.
        ///   Default 0.5, as in Hystrix and resilience4j.
        /// - `minimumCalls`: the minimum number of calls in the window before the circuit can open, at least 1. Default
        ///   20, as in Hystrix.
        /// - `window`: the length of the sliding window, at least 10 ms and two attempt timeouts. The window advances
        ///   in steps of a tenth of its length. Default 30 s, as in Polly.
        /// - `openTime`: how long the circuit stays open, above zero. The actual duration is random, from half of it to
        ///   all of it, so that many clients do not return at the same moment. Default 5 s, as in Polly and Hystrix.
        /// - `trials`: the number of trial calls that must succeed, one after the other, before the circuit closes: at
        ///   least 1. Default 1, as in Polly.
        public init(
            failureRatio: Double = 0.5, minimumCalls: Int = 20, window: Duration = .seconds(30),
            openTime: Duration = .seconds(5), trials: Int = 1
        ) {
            self.failureRatio = failureRatio
            self.minimumCalls = minimumCalls
            self.window = window
            self.openTime = openTime
            self.trials = trials
        }

        /// The default policy: a circuit opens for up to 5 s when half of at least 20 calls in 30 s fail.
        public static let standard = CircuitBreaker.Policy()

        /// A sentence about the first invalid value; nil if all values are valid.
        var problem: String? {
            guard failureRatio > 0, failureRatio <= 1 else {
                return "The circuit breaker's failureRatio is a share of the calls: above 0, at most 1."
            }
            guard minimumCalls > 0, trials > 0 else {
                return "The circuit breaker's minimumCalls and trials must be at least one."
            }
            return window >= .milliseconds(10) && openTime > .zero
                ? nil : "The circuit breaker's openTime must be positive, its window at least 10 ms."
        }
    }
}
