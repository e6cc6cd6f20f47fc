// SPDX-License-Identifier: MIT

public import CurlewCore

extension CircuitBreaker {
    /// The phase of a circuit. It decides which calls pass.
    public enum Phase: Hashable, Sendable {
        /// All calls pass, and their outcomes are counted.
        case closed
        /// No call passes before this time. The next call after it makes the circuit half-open.
        case open(until: MonotonicInstant)
        /// A few trial calls pass, to test whether the server has recovered.
        case halfOpen
        /// No call passes until the app calls `CircuitBreaker.reset(_:)`.
        case isolated
    }
}

/// The state machine of one circuit, as a value without I/O: it receives times and outcomes and decides which calls may
/// pass. `CircuitBreaker` lists its guarantees.
struct CircuitState: Sendable {
    /// The permission for a call to pass. The caller hands it back to `finish` with the outcome of the call.
    struct Permit: Hashable, Sendable {
        /// Whether the call is a trial of a half-open circuit.
        public let isTrial: Bool
        fileprivate let round: UInt64
        fileprivate var trial: UInt64 = 0
    }

    /// The decision about a call.
    enum Admission: Hashable, Sendable {
        /// The call may pass. Hand the permit back to `finish`.
        case pass(Permit)
        /// The call may not pass. Try again after this time; nil if the circuit is isolated.
        case refuse(tryAfter: Duration?)
    }

    /// The outcome of a call, as the circuit counts it.
    enum Outcome: Hashable, Sendable {
        /// The server processed the request. The associated value is the time to the response head.
        case success(Duration)
        /// The server failed or was unreachable.
        case failure
        /// The outcome says nothing about the server: for example, the call was cancelled or never sent.
        case unknown
    }

    /// The rules that decide when the circuit opens, and for how long.
    package let policy: CircuitBreaker.Policy
    /// The current phase. When the open time has passed, the circuit stays open until the next call.
    package private(set) var phase = CircuitBreaker.Phase.closed
    /// The number of times that the circuit has opened since it was last closed.
    package private(set) var openings = 0
    /// Why the circuit last opened or was isolated, in a few words; empty if neither has happened.
    package private(set) var cause = ""
    /// Why the circuit is in its phase, in a few words; empty if the phase has never changed.
    package private(set) var reason = ""
    /// How long the circuit stays open, as of its last opening.
    private(set) var openTime = Duration.zero

    private var window: CircuitWindow
    /// The number of phase changes so far. Permits from an earlier round do not count.
    private var round: UInt64 = 0
    private var trials: [(number: UInt64, end: MonotonicInstant)] = []
    private var lastTrial: UInt64 = 0
    private var successes = 0
    /// The round of the trials that closed the circuit, and the value of `openings` before that.
    private var closedBy: (round: UInt64, openings: Int)?

    /// Creates a closed circuit.
    init(_ policy: CircuitBreaker.Policy = .standard) {
        self.policy = policy
        window = CircuitWindow(policy.window)
    }

    /// Returns the number of calls that ended in the window, and how many of them failed or were slow.
    package func counts(at now: MonotonicInstant) -> (calls: Int, failed: Int, slow: Int) {
        var window = window
        window.advance(to: now)
        return (window.counts.calls, window.counts.failed, window.counts.slow)
    }

    /// Decides whether a call may pass now. Hand the permit back to `finish` when the call has ended.
    mutating func admit(at now: MonotonicInstant) -> Admission {
        switch phase {
        case .closed:
            return .pass(Permit(isTrial: false, round: round))
        case .open(let end):
            guard end <= now else { return .refuse(tryAfter: now.duration(to: end)) }
            enter(.halfOpen, because: "its open period ended")
            return .pass(beginTrial(at: now))
        case .halfOpen:
            if let wait = waitForTrial(at: now) { return .refuse(tryAfter: wait) }
            return .pass(beginTrial(at: now))
        case .isolated:
            return .refuse(tryAfter: nil)
        }
    }

    /// Returns how long `admit` would refuse a call now; nil if it would let the call pass. The inner optional is nil
    /// if the circuit is isolated.
    func refusal(at now: MonotonicInstant) -> Duration?? {
        switch phase {
        case .open(let end) where end > now: .some(now.duration(to: end))
        case .halfOpen: waitForTrial(at: now).map { .some($0) }
        case .isolated: .some(nil)
        default: nil
        }
    }

    /// Returns whether the outcome of the call with this permit still counts.
    func isCurrent(_ permit: Permit) -> Bool {
        permit.round == round && (!permit.isTrial || trials.contains { $0.number == permit.trial })
    }

    /// Records the outcome of a call that passed. Does nothing if the permit is from an earlier phase.
    mutating func finish(
        _ permit: Permit, _ outcome: Outcome, at now: MonotonicInstant,
        using random: inout some RandomNumberGenerator
    ) {
        guard isCurrent(permit) else { return }
        if permit.isTrial { trials.removeAll { $0.number == permit.trial } }
        let (failed, slow): (Bool, Bool)
        switch outcome {
        case .unknown: return
        case .failure: (failed, slow) = (true, false)
        case .success(let time): (failed, slow) = (false, policy.slowCall.map { time > $0 } ?? false)
        }
        guard !permit.isTrial else {
            successes += 1
            if failed || slow {
                open(at: now, because: failed ? "the trial failed" : "the trial was slow", &random)
            } else if successes >= policy.successes {
                let before = openings
                close(because: successes == 1 ? "the trial succeeded" : "\(successes) trials succeeded")
                closedBy = (permit.round, before)
            }
            return
        }
        window.add(failed: failed, slow: slow, at: now)
        judge(at: now, &random)
    }

    /// Records that a response body broke off after its response head was counted as a success.
    ///
    /// - `responded`: the time when the response head arrived.
    mutating func bodyFailed(
        _ permit: Permit, responded: MonotonicInstant, at now: MonotonicInstant,
        using random: inout some RandomNumberGenerator
    ) {
        if permit.isTrial, let trial = closedBy, trial.round == permit.round, phase == .closed {
            openings = trial.openings
            return open(at: now, because: "the body of the trial's response was interrupted", &random)
        }
        guard permit.round == round else { return }
        if permit.isTrial {
            return open(at: now, because: "the body of the trial's response was interrupted", &random)
        }
        window.turnIntoFailure(responded, at: now)
        judge(at: now, &random)
    }

    /// Opens the circuit if too many calls in the window failed or were slow.
    private mutating func judge(at now: MonotonicInstant, _ random: inout some RandomNumberGenerator) {
        let counts = window.counts
        guard counts.calls >= policy.minimumCalls else { return }
        if Double(counts.failed) >= policy.failureRatio * Double(counts.calls) {
            open(at: now, because: cause(counts.failed, "failed"), &random)
        } else if policy.slowCall != nil, Double(counts.slow) >= policy.slowRatio * Double(counts.calls) {
            open(at: now, because: cause(counts.slow, "were slow"), &random)
        }
    }

    /// Refuses all calls until `reset`.
    package mutating func isolate() {
        cause = "the app isolated it"
        enter(.isolated, because: cause)
    }

    /// Closes the circuit and discards its history.
    package mutating func reset() {
        close(because: "the app reset it")
    }

    private mutating func beginTrial(at now: MonotonicInstant) -> Permit {
        trials.removeAll { $0.end <= now }
        lastTrial &+= 1
        trials.append((lastTrial, now.advanced(by: policy.trialTime)))
        return Permit(isTrial: true, round: round, trial: lastTrial)
    }

    /// Returns the time to wait for another trial, at most one second; nil if a trial may begin now.
    private func waitForTrial(at now: MonotonicInstant) -> Duration? {
        let alive = trials.lazy.filter { $0.end > now }
        let (room, isEndless) = policy.trials.addingReportingOverflow(successes)
        guard !isEndless, alive.count >= room, let end = alive.map(\.end).min() else { return nil }
        return min(now.duration(to: end), .seconds(1))
    }

    private func cause(_ count: Int, _ what: String) -> String {
        "\(count) of \(window.counts.calls) calls \(what) in \(policy.window.brief)"
    }

    private mutating func open(
        at now: MonotonicInstant, because cause: String, _ random: inout some RandomNumberGenerator
    ) {
        openings += 1
        self.cause = cause
        openTime = policy.openTime(openings, using: &random)
        enter(.open(until: now.advanced(by: openTime)), because: cause)
    }

    private mutating func close(because reason: String) {
        openings = 0
        window.clear()
        enter(.closed, because: reason)
    }

    private mutating func enter(_ phase: CircuitBreaker.Phase, because reason: String) {
        self.phase = phase
        self.reason = reason
        round += 1
        trials = []
        successes = 0
        closedBy = nil
    }
}
