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
/// Copies share one time. Nothing here waits for real time: `waitForSleepers` replaces every sleep and yield that a
/// test would otherwise need.
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
        try await alarm(at: instant)
    }

    /// The same, also on a clock that skips waits: there, others' sleeps have to move it that far.
    public func alarm(at instant: MonotonicInstant) async throws {
        try await wait { state, waiter in
            guard instant > state.now else { return false }
            state.sleepers.append(State.Sleeper(until: instant, waiter: waiter))
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

    /// Moves the clock to the earliest moment that somebody waits for, and wakes who does. Gives how far that was, or
    /// nil when nobody waits.
    @discardableResult
    public func advanceToNextSleeper() -> Duration? {
        let next = state.withLock { state -> (Duration, [Waiter])? in
            guard let earliest = state.sleepers.map(\.until).min() else { return nil }
            let distance = state.now.duration(to: earliest)
            state.now = earliest
            return (distance, state.removeDue())
        }
        guard let (distance, woken) = next else { return nil }
        for waiter in woken { waiter.resume(.success(())) }
        return distance
    }

    /// How many tasks sleep on this clock now.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// Waits until at least `count` tasks sleep on this clock. Throws `CancellationError` as soon as the waiting task is
    /// cancelled; otherwise it waits without limit, so give the test a time limit.
    public func waitForSleepers(_ count: Int) async throws {
        try await wait { state, waiter in
            guard state.sleepers.count < count else { return false }
            state.observers.append(State.Observer(count: count, waiter: waiter))
            return true
        }
    }

    /// Suspends the task until its waiter is resumed; `enqueue` answers false when there is nothing to wait for.
    private func wait(_ enqueue: (inout State, Waiter) -> Bool) async throws {
        try Task.checkCancellation()
        let waiter = Waiter()
        let (isWaiting, satisfied) = state.withLock { state in
            (enqueue(&state, waiter), state.removeSatisfied())
        }
        for observer in satisfied { observer.resume(.success(())) }
        guard isWaiting else { return }
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
            let waiter: Waiter
        }

        struct Observer {
            let count: Int
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
            let satisfied = observers.filter { $0.count <= sleepers.count }
            observers.removeAll { $0.count <= sleepers.count }
            return satisfied.map(\.waiter)
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
