// SPDX-License-Identifier: MIT

public import CurlewCore
public import CurlewFoundation

/// A clock whose time changes only when a test advances it.
///
///     let clock = ManualClock()
///     async let response = client.send(.slow)      // waits for two seconds of this clock
///     try await clock.waitForSleepers(1)           // returns when the call waits
///     clock.advance(by: .seconds(2))               // the call continues
///
/// A clock that skips waits advances itself to the end of every sleep, so that retries and rate limits take no real
/// time:
///
///     let configuration = APIClient.Configuration(time: ManualClock.skippingWaits)
///     let client = APIClient.mock(pipeline: .standard, configuration: configuration)
///
/// Copies share one time. A test calls `waitForSleepers` instead of sleeping or yielding in real time. Only the timeout
/// of that method is real time, so that a test does not hang when its wait fails.
public struct ManualClock: TimeSource {
    private let state: Monitor<State>
    private let skipsWaits: Bool

    /// Creates a clock that shows `date`, by default the beginning of 2001 in UTC.
    ///
    /// - `skipsWaits`: whether a sleep advances the clock to the end of the sleep and returns immediately. Default
    ///   false.
    public init(date: Date = Date(timeIntervalSinceReferenceDate: 0), skipsWaits: Bool = false) {
        state = Monitor(State(start: date))
        self.skipsWaits = skipsWaits
    }

    /// A new clock that skips waits: every sleep, such as a pause between attempts, ends immediately. Limits on other
    /// work, such as the timeout of a token refresh, do not end immediately: they expire only when sleeps have advanced
    /// the clock that far.
    public static var skippingWaits: ManualClock { ManualClock(skipsWaits: true) }

    /// The current instant of the clock. It begins at an arbitrary value and changes only when the clock advances.
    public var now: SystemTime.Instant { state.withLock { $0.now } }

    /// The initial date plus the duration by which the clock was advanced.
    public var date: Date { state.withLock { $0.date } }

    /// Waits until the clock reaches `instant`. Returns immediately if the clock has already reached it. A clock that
    /// skips waits advances itself to `instant` instead. Throws `CancellationError` as soon as the task is cancelled.
    public func sleep(until instant: SystemTime.Instant) async throws {
        if skipsWaits {
            try Task.checkCancellation()
            return advance(by: now.duration(to: instant))
        }
        try await wait(until: instant, .pauses)
    }

    /// Waits until the clock reaches `instant`, as a limit on other work, such as a deadline. On a clock that skips
    /// waits, an alarm does not advance the clock: only sleeps do. Throws `CancellationError` as soon as the task is
    /// cancelled.
    public func alarm(at instant: SystemTime.Instant) async throws {
        try await wait(until: instant, .limits)
    }

    private func wait(until instant: SystemTime.Instant, _ kind: Waits) async throws {
        try Task.checkCancellation()
        let waiter = Waiter(false)
        let isWaiting = state.withLock { state in
            guard instant > state.now else { return false }
            state.sleepers.append(State.Sleeper(until: instant, kind: kind, waiter: waiter))
            return true
        }
        guard isWaiting, await waiter.wait(until: { $0 ? true : nil }) == nil else { return }
        state.withLock { $0.sleepers.removeAll { $0.waiter === waiter } }
        throw CancellationError()
    }

    /// Advances the clock and wakes the tasks whose waits have ended, the earliest first.
    ///
    /// All of these tasks are resumed before this method returns, but each continues in its own task: a task that
    /// sleeps again counts from the new time. A negative duration does not change the clock.
    public func advance(by duration: Duration) {
        let woken = state.withLock { state in
            state.now = state.now.advanced(by: max(.zero, duration))
            return state.removeDue()
        }
        for waiter in woken { waiter.withLock { $0 = true } }
    }

    /// Advances the clock to the earliest end of the selected waits, and wakes the tasks whose waits of any kind end by
    /// then. Returns the duration of the advance; nil if there are no such waits.
    ///
    /// - `waits`: the kinds of waits to consider. Default only pauses.
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
        for waiter in woken { waiter.withLock { $0 = true } }
        return distance
    }

    /// The number of tasks that wait on this clock now, for pauses or limits.
    public var sleeperCount: Int { sleeperCount(.all) }

    /// Returns the number of tasks that wait on this clock now, counting only waits of these kinds.
    public func sleeperCount(_ waits: Waits) -> Int { state.withLock { $0.count(waits) } }

    /// Waits until at least `count` tasks wait on this clock.
    ///
    /// - `waits`: the kinds of waits that count. Default only pauses, such as those between attempts: a test should not
    ///   depend on how many deadlines and other limits the library sets.
    /// - `timeout`: the limit in real time. Default 30 seconds.
    ///
    /// After the timeout, throws a ``MockError`` that lists the first ten of the current waits. Throws
    /// `CancellationError` as soon as the waiting task is cancelled.
    public func waitForSleepers(
        _ count: Int, _ waits: Waits = .pauses, timeout: Duration = .seconds(30)
    ) async throws {
        try Task.checkCancellation()
        if try await state.wait(for: timeout, until: { $0.count(waits) >= count ? true : nil }) != nil { return }
        throw MockError("\(state.withLock { $0.report(count, waits) }) within \(timeout.brief)")
    }

    /// A set of the kinds of waits on a clock.
    public struct Waits: OptionSet, Hashable, Sendable {
        /// The bits of the set.
        public let rawValue: Int

        /// Creates a set from its bits.
        public init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// Waits that let time pass (`TimeSource.sleep`): pauses between attempts, delays of stubs, the wait for a
        /// token of a rate limit's bucket.
        public static let pauses = Waits(rawValue: 1)
        /// Waits that limit other work (`TimeSource.alarm`): deadlines, timeouts of refreshes.
        public static let limits = Waits(rawValue: 2)
        /// All waits: pauses and limits.
        public static let all: Waits = [.pauses, .limits]
    }
}

extension ManualClock {
    private struct State: Sendable {
        struct Sleeper {
            let until: SystemTime.Instant
            let kind: Waits
            let waiter: Waiter
        }

        let start: Date
        var now = Self.zero
        var sleepers: [Sleeper] = []

        // The clock begins far from zero, so that a reading is not mistaken for a duration.
        private static let zero = SystemTime.Instant(nanoseconds: 1_000_000_000_000)

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

        func count(_ waits: Waits) -> Int { sleepers.count { waits.contains($0.kind) } }

        /// Returns the first part of the error message of a wait that timed out.
        func report(_ count: Int, _ waits: Waits) -> String {
            let awaited = waits == .pauses ? "pauses" : waits == .limits ? "limits" : "waits"
            let present = sleepers.sorted { $0.until < $1.until }.prefix(10).map {
                ($0.kind == .pauses ? "a pause" : "a limit") + " of \(now.duration(to: $0.until).brief)"
            }
            let hint = self.count(.all) >= count ? "; waitForSleepers(\(count), .all) counts limits too" : ""
            return "there were not \(count) \(awaited) on the clock but "
                + (present.isEmpty ? "none" : present.joined(separator: ", ")) + hint + ","
        }
    }

    /// Whether the clock has reached the instant of a sleeper.
    private typealias Waiter = Monitor<Bool>
}
