// SPDX-License-Identifier: MIT

/// One circuit as a pure state machine: it takes readings of the clock and says who may pass. Without I/O.
///
///     closed ──too many failures──▶ open ──its time is over──▶ half-open ──the trial succeeds──▶ closed
///                                    ▲                              │
///                                    └────────the trial fails───────┘
///
/// What it guarantees:
/// - While it is half-open one call passes at a time, the trial. One that is cancelled makes room for the next at once,
///   one that never ends after `CircuitPolicy.trialTime`.
/// - Calls that were sent before the present phase do not count in it.
/// - A call counts once. When the body of a response breaks off, its success becomes a failure; the circuit opens again if
///   that was the trial.
/// - Isolated by hand it lets nothing pass until it is reset by hand.
public struct CircuitState: Sendable {
    /// Where the circuit stands.
    public enum Phase: Hashable, Sendable {
        /// Calls pass, and are counted.
        case closed
        /// No call passes before this moment.
        case open(until: MonotonicInstant)
        /// One call passes, to see whether the server is well again.
        case halfOpen
        /// No call passes until `reset()`.
        case isolated
    }

    /// What a call gets that may pass, to be handed back with its outcome.
    public struct Permit: Hashable, Sendable {
        /// Whether it is the one trial of a half-open circuit.
        public let isTrial: Bool
        fileprivate let round: UInt64
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

    private var window: CircuitWindow
    /// Permits of an earlier round come too late.
    private var round: UInt64 = 0
    private var trialEnd: MonotonicInstant?
    /// The trial that closed the circuit, and how often it had opened before.
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
            phase = .halfOpen
            return .pass(beginTrial(at: now))
        case .halfOpen:
            guard let trialEnd, trialEnd > now else { return .pass(beginTrial(at: now)) }
            return .refuse(tryAfter: min(now.duration(to: trialEnd), .seconds(1)))
        case .isolated:
            return .refuse(tryAfter: nil)
        }
    }

    /// How long `admit` would refuse a call now, nil inside when that is unknown; nil if the call may pass.
    func refusal(at now: MonotonicInstant) -> Duration?? {
        switch phase {
        case .open(let end) where end > now: .some(now.duration(to: end))
        case .halfOpen: trialEnd.flatMap { $0 > now ? .some(min(now.duration(to: $0), .seconds(1))) : nil }
        case .isolated: .some(nil)
        default: nil
        }
    }

    /// Whether the outcome of the call with this permit counts.
    func isCurrent(_ permit: Permit) -> Bool { permit.round == round }

    /// The outcome of a call that passed.
    public mutating func finish(
        _ permit: Permit, _ outcome: Outcome, at now: MonotonicInstant, using random: inout some RandomNumberGenerator
    ) {
        guard permit.round == round else { return }
        let (failed, slow): (Bool, Bool)
        switch outcome {
        case .unknown:
            if permit.isTrial { trialEnd = nil }
            return
        case .failure: (failed, slow) = (true, false)
        case .success(let time): (failed, slow) = (false, policy.slowCall.map { time > $0 } ?? false)
        }
        guard !permit.isTrial else {
            if failed || slow {
                open(at: now, because: failed ? "the trial failed" : "the trial was slow", &random)
            } else {
                let before = openings
                close()
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
        guard !permit.isTrial, permit.round == round else { return }
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
        enter(.isolated)
        cause = "it was isolated by hand"
    }

    /// Closes the circuit and forgets what has been.
    public mutating func reset() {
        close()
    }

    private mutating func beginTrial(at now: MonotonicInstant) -> Permit {
        round += 1
        trialEnd = now.advanced(by: policy.trialTime)
        return Permit(isTrial: true, round: round)
    }

    private func cause(_ count: Int, _ what: String) -> String {
        "\(count) of \(window.counts.calls) calls \(what) in \(policy.window.brief)"
    }

    private mutating func open(
        at now: MonotonicInstant, because cause: String, _ random: inout some RandomNumberGenerator
    ) {
        openings += 1
        self.cause = cause
        enter(.open(until: now.advanced(by: policy.openTime(openings, using: &random))))
    }

    private mutating func close() {
        openings = 0
        window.clear()
        enter(.closed)
    }

    private mutating func enter(_ phase: Phase) {
        self.phase = phase
        round += 1
        (trialEnd, closedBy) = (nil, nil)
    }
}
