// SPDX-License-Identifier: MIT

public import CurlewCore

extension CircuitBreaker {
    /// The phase of a circuit. It decides which calls pass.
    public enum Phase: Hashable, Sendable {
        /// All calls pass, and their outcomes are counted.
        case closed
        /// No call passes before this time. The next call after it makes the circuit half-open.
        case open(until: SystemTime.Instant)
        /// One trial call at a time passes, to test whether the server has recovered.
        case halfOpen
    }
}

/// The state machine of one circuit, as a value without I/O: it receives times and outcomes and decides which calls may
/// pass. `CircuitBreaker` lists its guarantees.
struct CircuitState: Sendable {
    /// The permission for a call to pass. The caller hands it back to `finish` with the outcome of the call.
    struct Permit: Hashable, Sendable {
        fileprivate let round: UInt64
        /// The number of the trial of a half-open circuit; nil for any other call.
        fileprivate let trial: UInt64?

        var isTrial: Bool { trial != nil }
    }

    enum Outcome: Hashable, Sendable {
        /// The server processed the request.
        case success
        /// The server failed or was unreachable.
        case failure
        /// The outcome says nothing about the server: for example, the call was cancelled or never sent.
        case unknown
    }

    /// The timeout of a trial, after which another one may begin.
    static let trialTime = Duration.seconds(30)

    let policy: CircuitBreaker.Policy
    /// The current phase. When the open time has passed, the circuit stays open until the next call.
    private(set) var phase = CircuitBreaker.Phase.closed
    /// Why the circuit last opened, in a few words; empty if it never has.
    private(set) var cause = ""
    private(set) var openTime = Duration.zero

    /// The sequence number of the last use, counted over all circuits of the breaker.
    var lastUse: UInt64 = 0

    private(set) var window: CircuitWindow
    /// The number of phase changes so far. Permits from an earlier round do not count.
    private var round: UInt64 = 0
    /// The number of the last trial, which is the only one that counts.
    private var trial: UInt64 = 0
    /// When the trial in flight no longer prevents another one; nil if there is none.
    private var trialEnd: SystemTime.Instant?
    private var successes = 0

    init(_ policy: CircuitBreaker.Policy) {
        self.policy = policy
        window = CircuitWindow(policy.window)
    }

    /// Returns the permit of a call that may pass now; nil if it may not. Hand the permit back to `finish` when the
    /// call has ended.
    mutating func admit(at now: SystemTime.Instant) -> Permit? {
        guard refusal(at: now) == nil else { return nil }
        if phase == .closed { return Permit(round: round, trial: nil) }
        if phase != .halfOpen { enter(.halfOpen) }
        trial += 1
        trialEnd = now.advanced(by: Self.trialTime)
        return Permit(round: round, trial: trial)
    }

    /// Returns how long `admit` would refuse a call now, at most one second if the circuit is half-open; nil if it
    /// would let the call pass.
    func refusal(at now: SystemTime.Instant) -> Duration? {
        switch phase {
        case .closed: return nil
        case .open(let end): return end > now ? now.duration(to: end) : nil
        case .halfOpen:
            guard let trialEnd, trialEnd > now else { return nil }
            return min(now.duration(to: trialEnd), .seconds(1))
        }
    }

    /// Returns whether the outcome of the call with this permit still counts.
    func isCurrent(_ permit: Permit) -> Bool {
        permit.round == round && (permit.trial == nil || permit.trial == trial)
    }

    /// Records the outcome of a call that passed. Does nothing if the permit is from an earlier phase, or if another
    /// trial has replaced the call.
    ///
    /// - `random`: a uniformly distributed number in 0..<1, from which an open time is computed.
    mutating func finish(_ permit: Permit, _ outcome: Outcome, at now: SystemTime.Instant, random: Double) {
        guard isCurrent(permit) else { return }
        if permit.isTrial { trialEnd = nil }
        switch (outcome, permit.isTrial) {
        case (.unknown, _): break
        case (_, false):
            window.add(failed: outcome == .failure, at: now)
            evaluate(at: now, random)
        case (.failure, true): open(at: now, because: "the trial failed", random)
        case (.success, true):
            successes += 1
            if successes >= policy.trials { enter(.closed) }
        }
    }

    /// Opens the circuit if too many calls in the window failed.
    private mutating func evaluate(at now: SystemTime.Instant, _ random: Double) {
        let counts = window.counts(at: now)
        guard counts.calls >= policy.minimumCalls,
            Double(counts.failed) >= policy.failureRatio * Double(counts.calls)
        else { return }
        open(at: now, because: "\(counts.failed) of \(counts.calls) calls failed in \(policy.window.brief)", random)
    }

    private mutating func open(at now: SystemTime.Instant, because cause: String, _ random: Double) {
        self.cause = cause
        let half = policy.openTime.wholeNanoseconds / 2
        openTime = policy.openTime - .nanoseconds(Int64(Double(half) * random))
        enter(.open(until: now.advanced(by: openTime)))
    }

    private mutating func enter(_ phase: CircuitBreaker.Phase) {
        self.phase = phase
        round += 1
        window = CircuitWindow(policy.window)
        trialEnd = nil
        successes = 0
    }
}

/// Counts the recent calls in ten time slices. When a new slice begins, the oldest is dropped.
struct CircuitWindow: Sendable {
    private struct Slice: Sendable {
        let number: Int64
        var calls = 0
        var failed = 0
    }

    private let length: Int64
    /// The slices in which calls ended, oldest first.
    private var slices: [Slice] = []

    init(_ span: Duration) {
        length = max(1, span.wholeNanoseconds / 10)
    }

    /// Returns the number of calls that ended in the window, and how many of them failed.
    func counts(at now: SystemTime.Instant) -> (calls: Int, failed: Int) {
        let number = number(of: now)
        return slices.reduce(into: (0, 0)) { counts, slice in
            guard number - slice.number < 10 else { return }
            counts.0 += slice.calls
            counts.1 += slice.failed
        }
    }

    /// Counts a call that ended at `now`. A time before the previous one counts as that one.
    mutating func add(failed: Bool, at now: SystemTime.Instant) {
        let number = max(number(of: now), slices.last?.number ?? .min)
        slices.removeAll { number - $0.number >= 10 }
        if slices.last?.number != number { slices.append(Slice(number: number)) }
        slices[slices.count - 1].calls += 1
        if failed { slices[slices.count - 1].failed += 1 }
    }

    /// Returns the number of the slice that contains `time`. Negative times are rounded down too.
    private func number(of time: SystemTime.Instant) -> Int64 {
        time.nanoseconds >= 0 ? time.nanoseconds / length : ~(~time.nanoseconds / length)
    }
}
