// SPDX-License-Identifier: MIT

public import CurlewCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Time that stands still until a test moves it.
///
///     let clock = ManualClock()
///     async let answer = client.send(.slow)        // waits for two seconds of this clock
///     try await clock.waitForSleepers(1)           // until it does
///     clock.advance(by: .seconds(2))               // and now it goes on
///
/// A clock that skips waits moves by itself as far as anybody wants to sleep, so that retries and limits wait for
/// nothing:
///
///     let client = APIClient.mock(pipeline: .standard, configuration: ClientConfiguration(time: ManualClock.skippingWaits))
///
/// Copies share one time. Nothing here is measured in real time: `waitForSleepers` replaces every sleep and yield that a
/// test would otherwise need. Only its timeout is real, so that a test that waits in vain fails instead of hanging.
public struct ManualClock: TimeSource {
    private let state: Locked<State>
    private let skipsWaits: Bool

    /// A clock that shows `date`, by default the first second of 2001.
    ///
    /// - `skipsWaits`: whether a sleep moves the clock to its end and returns at once. Default false.
    public init(date: Date = Date(timeIntervalSinceReferenceDate: 0), skipsWaits: Bool = false) {
        state = Locked(State(start: date))
        self.skipsWaits = skipsWaits
    }

    /// A clock of its own on which every sleep is over at once, for waits between attempts. Deadlines of what takes no
    /// time of this clock, such as tokens that are renewed, do not end with them.
    public static var skippingWaits: ManualClock { ManualClock(skipsWaits: true) }

    /// The reading: it begins at an arbitrary value and moves by `advance` only.
    public var now: MonotonicInstant { state.withLock { $0.now } }

    /// The date at the start plus what the clock was advanced by.
    public var date: Date { state.withLock { $0.date } }

    /// Waits until the clock is advanced that far; returns at once if it is already. Throws `CancellationError` as soon
    /// as the task is cancelled.
    public func sleep(until instant: MonotonicInstant) async throws {
        if skipsWaits {
            try Task.checkCancellation()
            return advance(by: now.duration(to: instant))
        }
        try await wait(until: instant, .pauses)
    }

    /// The same for a limit on something else, such as a deadline; also on a clock that skips waits: there, others' sleeps
    /// have to move it that far.
    public func alarm(at instant: MonotonicInstant) async throws {
        try await wait(until: instant, .limits)
    }

    private func wait(until instant: MonotonicInstant, _ kind: Waits) async throws {
        try await wait { state, waiter in
            guard instant > state.now else { return false }
            state.sleepers.append(State.Sleeper(until: instant, kind: kind, waiter: waiter))
            return true
        }
    }

    /// Moves the clock and wakes those whose time has come, the earliest first.
    ///
    /// All of it happens before this returns, but what they do next happens in their own tasks: one that sleeps again
    /// counts from the new time.
    public func advance(by duration: Duration) {
        let woken = state.withLock { state in
            state.now = state.now.advanced(by: max(.zero, duration))
            return state.removeDue()
        }
        for waiter in woken { waiter.resume(.success(())) }
    }

    /// Moves the clock to the earliest moment that somebody waits for, and wakes who does. Returns how far that was, or
    /// nil when nobody waits.
    ///
    /// - `waits`: which waits count. Default pauses alone. Others whose time comes on the way are woken too.
    @discardableResult
    public func advanceToNextSleeper(_ waits: Waits = .pauses) -> Duration? {
        let next = state.withLock { state -> (Duration, [Waiter])? in
            guard let earliest = state.sleepers.filter({ waits.contains($0.kind) }).map(\.until).min() else {
                return nil
            }
            let distance = state.now.duration(to: earliest)
            state.now = earliest
            return (distance, state.removeDue())
        }
        guard let (distance, woken) = next else { return nil }
        for waiter in woken { waiter.resume(.success(())) }
        return distance
    }

    /// How many tasks sleep on this clock now, limits included: those whose work ends first are still among them.
    public var sleeperCount: Int { sleeperCount(.all) }

    /// How many waits of this kind there are now.
    public func sleeperCount(_ waits: Waits) -> Int { state.withLock { $0.count(waits) } }

    /// Waits until at least `count` tasks sleep on this clock.
    ///
    /// - `waits`: which waits count. Default pauses alone, such as those between attempts; how many deadlines and other
    ///   limits the library has set is nothing that a test should know.
    /// - `timeout`: how long, in real time. Default 10 seconds.
    ///
    /// Throws a ``MockWaitError`` that says which waits there are, when the time is over, and `CancellationError` as soon as
    /// the waiting task is cancelled.
    public func waitForSleepers(
        _ count: Int, _ waits: Waits = .pauses, timeout: Duration = .seconds(10)
    ) async throws {
        try await wait(timeout: (timeout, { $0.report(count, waits) })) { state, waiter in
            guard state.count(waits) < count else { return false }
            state.observers.append(State.Observer(count: count, waits: waits, waiter: waiter))
            return true
        }
    }

    /// What a task waits for on a clock.
    public struct Waits: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: Int

        /// The kinds of these bits.
        public init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// Time that has to pass: pauses between attempts, delays of stubs, the next token of a rate limit
        /// (`TimeSource.sleep`).
        public static let pauses = Waits(rawValue: 1)
        /// The ends of other waits: deadlines, time limits of refreshes (`TimeSource.alarm`).
        public static let limits = Waits(rawValue: 2)
        /// Both.
        public static let all: Waits = [.pauses, .limits]
    }

    /// Suspends the task until its waiter is resumed; `enqueue` answers false when there is nothing to wait for.
    ///
    /// - `timeout`: how long in real time, and what to say then.
    private func wait(
        timeout: (limit: Duration, report: @Sendable (State) -> String)? = nil,
        _ enqueue: (inout State, Waiter) -> Bool
    ) async throws {
        try Task.checkCancellation()
        let waiter = Waiter()
        let (isWaiting, satisfied) = state.withLock { state in
            (enqueue(&state, waiter), state.removeSatisfied())
        }
        for observer in satisfied { observer.resume(.success(())) }
        guard isWaiting else { return }
        let timer = timeout.map { timeout in
            Task { [state] in
                guard (try? await SystemTime().sleep(for: timeout.limit)) != nil else { return }
                let text = state.withLock { state in
                    state.remove(waiter)
                    return timeout.report(state)
                }
                waiter.resume(.failure(MockWaitError("\(text) within \(timeout.limit.brief)")))
            }
        }
        defer { timer?.cancel() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter.install($0) }
        } onCancel: {
            state.withLock { $0.remove(waiter) }
            waiter.resume(.failure(CancellationError()))
        }
    }
}

extension ManualClock {
    private struct State: Sendable {
        struct Sleeper {
            let until: MonotonicInstant
            let kind: Waits
            let waiter: Waiter
        }

        struct Observer {
            let count: Int
            let waits: Waits
            let waiter: Waiter
        }

        let start: Date
        var now = Self.zero
        var sleepers: [Sleeper] = []
        var observers: [Observer] = []

        // Far from zero, so that nobody takes a reading for a duration.
        private static let zero = MonotonicInstant(nanoseconds: 1_000_000_000_000)

        init(start: Date) {
            self.start = start
        }

        var date: Date {
            start.addingTimeInterval(Double(Self.zero.duration(to: now).wholeNanoseconds) / 1e9)
        }

        mutating func removeDue() -> [Waiter] {
            let due = sleepers.filter { $0.until <= now }.sorted { $0.until < $1.until }
            sleepers.removeAll { $0.until <= now }
            return due.map(\.waiter)
        }

        mutating func removeSatisfied() -> [Waiter] {
            let isSatisfied = { [sleepers] (observer: Observer) in
                observer.count <= sleepers.count { observer.waits.contains($0.kind) }
            }
            let satisfied = observers.filter(isSatisfied)
            if !satisfied.isEmpty { observers.removeAll(where: isSatisfied) }
            return satisfied.map(\.waiter)
        }

        func count(_ waits: Waits) -> Int { sleepers.count { waits.contains($0.kind) } }

        /// What a test waited for in vain.
        func report(_ count: Int, _ waits: Waits) -> String {
            let awaited = waits == .pauses ? "pauses" : waits == .limits ? "limits" : "waits"
            let present = sleepers.sorted { $0.until < $1.until }.prefix(10).map {
                ($0.kind == .pauses ? "a pause" : "a limit") + " of \(now.duration(to: $0.until).brief)"
            }
            let hint = self.count(.all) >= count ? "; waitForSleepers(\(count), .all) counts limits too" : ""
            return "there were not \(count) \(awaited) on the clock but "
                + (present.isEmpty ? "none" : present.joined(separator: ", ")) + hint + ","
        }

        mutating func remove(_ waiter: Waiter) {
            sleepers.removeAll { $0.waiter === waiter }
            observers.removeAll { $0.waiter === waiter }
        }
    }

    /// One suspended task, resumed exactly once, whether the resumption or the continuation comes first.
    private final class Waiter: Sendable {
        private enum Phase: Sendable {
            case new
            case suspended(CheckedContinuation<Void, any Error>)
            case resumed(Result<Void, any Error>)
        }

        private let phase = Locked(Phase.new)

        func install(_ continuation: CheckedContinuation<Void, any Error>) {
            let early = phase.withLock { phase -> Result<Void, any Error>? in
                if case .resumed(let result) = phase { return result }
                phase = .suspended(continuation)
                return nil
            }
            if let early { continuation.resume(with: early) }
        }

        func resume(_ result: Result<Void, any Error>) {
            let waiting = phase.withLock { phase -> CheckedContinuation<Void, any Error>? in
                switch phase {
                case .new:
                    phase = .resumed(result)
                    return nil
                case .suspended(let continuation):
                    phase = .resumed(result)
                    return continuation
                case .resumed:
                    return nil
                }
            }
            waiting?.resume(with: result)
        }
    }
}
