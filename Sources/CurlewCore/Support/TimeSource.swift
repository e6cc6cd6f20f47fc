// SPDX-License-Identifier: MIT

public import CurlewFoundation

/// A source of the current time, which can also wait until a later time.
///
/// Deadlines, back-off and expiry all use the time source of the client. Only the transports that use the network
/// measure the durations of an exchange in real time. A test replaces the source with `ManualClock` and does not sleep.
public protocol TimeSource: Sendable {
    /// The monotonic time. It never goes backwards, and changes of the wall clock do not affect it.
    var now: SystemTime.Instant { get }
    /// The time of the wall clock, for comparisons with dates from servers.
    var date: Date { get }
    /// Waits until `instant`; not at all if it has passed. Throws `CancellationError` as soon as the task is cancelled.
    func sleep(until instant: SystemTime.Instant) async throws
    /// Waits until `instant` in order to end another wait, for example at its deadline. A source whose `sleep(until:)`
    /// skips the wait must not skip this one. Throws as `sleep(until:)` does, which the default implementation calls.
    func alarm(at instant: SystemTime.Instant) async throws
}

extension TimeSource {
    /// Waits until `instant` with `sleep(until:)`, and throws what that throws.
    public func alarm(at instant: SystemTime.Instant) async throws {
        try await sleep(until: instant)
    }

    /// Waits for `duration`. Throws `CancellationError` as soon as the task is cancelled.
    public func sleep(for duration: Duration) async throws {
        try await sleep(until: now.advanced(by: duration))
    }
}

extension SystemTime {
    /// A point on a monotonic clock, in nanoseconds since an unspecified start.
    public struct Instant: Comparable, Hashable, Sendable {
        package var nanoseconds: Int64

        package init(nanoseconds: Int64) {
            self.nanoseconds = nanoseconds
        }

        /// Returns the instant that is `duration` later. A result beyond the range of the clock (centuries) is clamped.
        public func advanced(by duration: Duration) -> SystemTime.Instant {
            let (sum, overflow) = nanoseconds.addingReportingOverflow(duration.wholeNanoseconds)
            return SystemTime.Instant(nanoseconds: overflow ? (duration < .zero ? .min : .max) : sum)
        }

        /// Returns the time from this instant to `other`; negative if `other` is earlier. A result beyond the range of
        /// the clock is clamped.
        public func duration(to other: SystemTime.Instant) -> Duration {
            let (difference, overflow) = other.nanoseconds.subtractingReportingOverflow(nanoseconds)
            return .nanoseconds(overflow ? (other < self ? .min : .max) : difference)
        }

        /// Returns whether `left` is earlier than `right`.
        public static func < (left: SystemTime.Instant, right: SystemTime.Instant) -> Bool {
            left.nanoseconds < right.nanoseconds
        }
    }
}

/// A time source that uses the clocks of the operating system.
///
/// On every system, the monotonic clock stops while the device sleeps. After the device wakes, a running call has the
/// rest of its time. The clock continues while the system suspends an app, so the deadline of a call may have passed
/// when the app is resumed.
public struct SystemTime: TimeSource {
    // The systems use different names for this clock: on Apple systems, `CLOCK_MONOTONIC` continues during sleep.
    #if canImport(Darwin)
    private static var clock: clockid_t { CLOCK_UPTIME_RAW }
    #else
    private static var clock: clockid_t { CLOCK_MONOTONIC }
    #endif

    /// Creates a time source that uses the clocks of the operating system.
    public init() {}

    /// The time since the system started, without the time during which it slept.
    public var now: SystemTime.Instant {
        var time = timespec()
        clock_gettime(Self.clock, &time)
        return SystemTime.Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// The time of the system's wall clock.
    public var date: Date { Date() }

    /// Waits until `instant` without blocking a thread. Throws `CancellationError` as soon as the task is cancelled.
    public func sleep(until instant: SystemTime.Instant) async throws {
        try Task.checkCancellation()
        // By this clock, the timer may fire early, so the remaining time is checked again.
        while true {
            let remaining = now.duration(to: instant)
            guard remaining > .zero else { return }
            try await Task.sleep(for: remaining, clock: .suspending)
        }
    }
}

extension Duration {
    /// The duration in nanoseconds, clamped to `Int64` (about 292 years either way).
    package var wholeNanoseconds: Int64 {
        // One division of 128 bits instead of the two of `components`; none for a duration that fits into 64 bits.
        if #available(iOS 18, macOS 15, tvOS 18, watchOS 11, visionOS 2, *) {
            let attoseconds = attoseconds
            if let short = Int64(exactly: attoseconds) { return short / 1_000_000_000 }
            return Int64(clamping: attoseconds / 1_000_000_000)
        }
        let parts = components
        let (seconds, overflow) = parts.seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return parts.seconds < 0 ? .min : .max }
        let (sum, carry) = seconds.addingReportingOverflow(parts.attoseconds / 1_000_000_000)
        return carry ? (parts.seconds < 0 ? .min : .max) : sum
    }

    /// The duration in milliseconds, rounded up so that a short positive wait does not become zero.
    package var roundedUpMilliseconds: Int64 {
        let nanoseconds = wholeNanoseconds
        return nanoseconds <= 0 ? nanoseconds / 1_000_000 : (nanoseconds - 1) / 1_000_000 + 1
    }

    /// A short text with at most one decimal: `1.3 s`, `340 ms`, `85 µs`.
    package var brief: String {
        let nanoseconds = wholeNanoseconds
        func rounded(_ unit: Int64) -> String {
            let hundredths = (nanoseconds * 100 / unit + 5) / 10
            return hundredths % 10 == 0 || hundredths >= 1000
                ? "\(hundredths / 10)" : "\(hundredths / 10).\(hundredths % 10)"
        }
        switch nanoseconds {
        case Int64.min..<0: return "-" + (Duration.zero - self).brief
        case 0..<1_000_000: return rounded(1_000) + " µs"
        case 1_000_000..<1_000_000_000: return rounded(1_000_000) + " ms"
        default: return nanoseconds > .max / 1000 ? "\(components.seconds) s" : rounded(1_000_000_000) + " s"
        }
    }
}

extension SystemTime {
    /// The moment at which an operation must have ended, or no limit.
    ///
    /// Deadlines are values that an exchange carries. Each wait computes the time that is left until its deadline.
    public struct Deadline: Hashable, Sendable {
        /// The moment of the deadline; nil for no limit.
        public var instant: SystemTime.Instant?

        /// Creates a deadline at `instant`, or without a limit if `instant` is nil.
        init(_ instant: SystemTime.Instant?) {
            self.instant = instant
        }

        package static let never = SystemTime.Deadline(nil)

        /// Creates a deadline `duration` after `start`; without a limit if `duration` is nil.
        public init(_ duration: Duration?, after start: SystemTime.Instant) {
            instant = duration.map { start.advanced(by: $0) }
        }

        /// Returns the time left at `now`: zero if the deadline has passed, nil if there is no limit.
        public func remaining(at now: SystemTime.Instant) -> Duration? {
            instant.map { Swift.max(.zero, now.duration(to: $0)) }
        }

        /// Returns whether the deadline has passed at `now`. A deadline at exactly `now` has passed.
        package func hasPassed(at now: SystemTime.Instant) -> Bool {
            instant.map { $0 <= now } ?? false
        }

        /// Returns the earlier of this deadline and `other`.
        package func earlier(_ other: SystemTime.Deadline) -> SystemTime.Deadline {
            guard let mine = instant else { return other }
            guard let theirs = other.instant else { return self }
            return SystemTime.Deadline(Swift.min(mine, theirs))
        }
    }
}

/// The error of a wait whose deadline has passed. `NetworkError(_:)` maps it to `.timedOut(.total)` by default.
package struct DeadlinePassed: Error {
    package init() {}
}
