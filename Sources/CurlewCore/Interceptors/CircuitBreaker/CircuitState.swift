// SPDX-License-Identifier: MIT

/// One circuit as a pure state machine: it takes readings of the clock and says who may pass. Without I/O.
///
///     closed ──too many failures──▶ open ──its time is over──▶ half-open ──the trials succeed──▶ closed
///                                    ▲                              │
///                                    └─────────a trial fails────────┘
///
/// What it guarantees:
/// - While it is half-open, `CircuitPolicy.trials` calls may be under way, and one more for each that has succeeded: the
///   load grows with the successes. After `CircuitPolicy.successes` of them the circuit closes; the first failure opens it
///   again. A trial that is cancelled makes room for the next at once, one that never ends after `CircuitPolicy.trialTime`.
/// - Calls that were sent before the present phase do not count in it.
/// - A call counts once. When the body of a response breaks off, its success becomes a failure; the circuit opens again if
///   that was a trial.
/// - Isolated by hand it lets nothing pass until it is reset by hand.
public struct CircuitState: Sendable {
    /// Where the circuit stands.
    public enum Phase: Hashable, Sendable {
        /// Calls pass, and are counted.
        case closed
        /// No call passes before this moment.
        case open(until: MonotonicInstant)
        /// Few calls pass, to see whether the server is well again.
        case halfOpen
        /// No call passes until `reset()`.
        case isolated
    }

    /// What a call gets that may pass, to be handed back with its outcome.
    public struct Permit: Hashable, Sendable {
        /// Whether it is a trial of a half-open circuit.
        public let isTrial: Bool
        fileprivate let round: UInt64
        fileprivate var trial: UInt64 = 0
    }

    /// Whether a call may pass.
    public enum Admission: Hashable, Sendable {
        /// It may.
        case pass(Permit)
        /// It may not, and there is no use in asking again before this time has passed; nil when that is unknown.
        case refuse(tryAfter: Duration?)
    }

    /// How a call ended.
    public enum Outcome: Hashable, Sendable {
        /// The server did its work, whatever it answered; to the head of the answer it took this long.
        case success(Duration)
        /// The server failed or was not there.
        case failure
        /// It says nothing about the server: cancelled, or never sent.
        case unknown
    }

    /// The policy it follows.
    public let policy: CircuitPolicy
    /// Where it stands. An open circuit whose time is over stays so until a call comes.
    public private(set) var phase = Phase.closed
    /// How often it has opened since it was last closed.
    public private(set) var openings = 0
    /// Why it opened last, in a few words; empty when it never did.
    public private(set) var cause = ""
    /// Why it is in this phase, in a few words; empty when it was never in another one.
    public private(set) var reason = ""
    /// How long it stays open since it opened last.
    private(set) var openTime = Duration.zero

    private var window: CircuitWindow
    /// Permits of an earlier round come too late.
    private var round: UInt64 = 0
    private var trials: [(number: UInt64, end: MonotonicInstant)] = []
    private var lastTrial: UInt64 = 0
    private var successes = 0
    /// The round of the trials that closed the circuit, and how often it had opened before.
    private var closedBy: (round: UInt64, openings: Int)?

    /// A closed circuit.
    public init(_ policy: CircuitPolicy = .standard) {
        self.policy = policy
        window = CircuitWindow(policy.window)
    }

    /// The calls of the window that ended, and how many of them failed and were slow.
    public func counts(at now: MonotonicInstant) -> (calls: Int, failed: Int, slow: Int) {
        var window = window
        window.advance(to: now)
        return (window.counts.calls, window.counts.failed, window.counts.slow)
    }

    /// Whether a call may pass now. Whoever may hands the permit back with `finish`.
    public mutating func admit(at now: MonotonicInstant) -> Admission {
        switch phase {
        case .closed:
            return .pass(Permit(isTrial: false, round: round))
        case .open(let end):
            guard end <= now else { return .refuse(tryAfter: now.duration(to: end)) }
            enter(.halfOpen, because: "its time is over")
            return .pass(beginTrial(at: now))
        case .halfOpen:
            if let wait = waitForTrial(at: now) { return .refuse(tryAfter: wait) }
            return .pass(beginTrial(at: now))
        case .isolated:
            return .refuse(tryAfter: nil)
        }
    }

    /// How long `admit` would refuse a call now, nil inside when that is unknown; nil if the call may pass.
    func refusal(at now: MonotonicInstant) -> Duration?? {
        switch phase {
        case .open(let end) where end > now: .some(now.duration(to: end))
        case .halfOpen: waitForTrial(at: now).map { .some($0) }
        case .isolated: .some(nil)
        default: nil
        }
    }

    /// Whether the outcome of the call with this permit counts.
    func isCurrent(_ permit: Permit) -> Bool {
        permit.round == round && (!permit.isTrial || trials.contains { $0.number == permit.trial })
    }

    /// The outcome of a call that passed.
    public mutating func finish(
        _ permit: Permit, _ outcome: Outcome, at now: MonotonicInstant, using random: inout some RandomNumberGenerator
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

    /// The body of a response broke off whose head was a success.
    ///
    /// - `answered`: when the head came.
    public mutating func bodyFailed(
        _ permit: Permit, answered: MonotonicInstant, at now: MonotonicInstant,
        using random: inout some RandomNumberGenerator
    ) {
        if permit.isTrial, let trial = closedBy, trial.round == permit.round, phase == .closed {
            openings = trial.openings
            return open(at: now, because: "the body of the trial's response broke off", &random)
        }
        guard permit.round == round else { return }
        if permit.isTrial { return open(at: now, because: "the body of the trial's response broke off", &random) }
        window.turnIntoFailure(answered, at: now)
        judge(at: now, &random)
    }

    /// Opens the circuit if too many calls of the window failed or were slow.
    private mutating func judge(at now: MonotonicInstant, _ random: inout some RandomNumberGenerator) {
        let counts = window.counts
        guard counts.calls >= policy.minimumCalls else { return }
        if Double(counts.failed) >= policy.failureRatio * Double(counts.calls) {
            open(at: now, because: cause(counts.failed, "failed"), &random)
        } else if policy.slowCall != nil, Double(counts.slow) >= policy.slowRatio * Double(counts.calls) {
            open(at: now, because: cause(counts.slow, "were slow"), &random)
        }
    }

    /// Lets nothing pass from now on.
    public mutating func isolate() {
        cause = "it was isolated by hand"
        enter(.isolated, because: cause)
    }

    /// Closes the circuit and forgets what has been.
    public mutating func reset() {
        close(because: "it was reset by hand")
    }

    private mutating func beginTrial(at now: MonotonicInstant) -> Permit {
        trials.removeAll { $0.end <= now }
        lastTrial &+= 1
        trials.append((lastTrial, now.advanced(by: policy.trialTime)))
        return Permit(isTrial: true, round: round, trial: lastTrial)
    }

    /// How long there is no room for another trial; nil if there is. Unknown times are a second.
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

    private mutating func enter(_ phase: Phase, because reason: String) {
        self.phase = phase
        self.reason = reason
        round += 1
        trials = []
        successes = 0
        closedBy = nil
    }
}
