// SPDX-License-Identifier: MIT

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Provides the current time and waits.
///
/// Everything that waits (deadlines, back-off, expiry) uses its time source, so a test can replace it with
/// `ManualClock` and does not sleep.
public protocol TimeSource: Sendable {
    /// The monotonic time. It never goes backwards and does not follow changes of the wall clock.
    var now: MonotonicInstant { get }
    /// The wall clock, for dates from servers.
    var date: Date { get }
    /// Returns when `instant` has been reached; throws `CancellationError` as soon as the task is cancelled.
    func sleep(until instant: MonotonicInstant) async throws
    /// Waits until `instant` for a limit on another wait, such as a deadline. A source whose sleeps return immediately
    /// must not end such waits. The default calls `sleep(until:)`.
    func alarm(at instant: MonotonicInstant) async throws
}

extension TimeSource {
    /// Calls `sleep(until:)`.
    public func alarm(at instant: MonotonicInstant) async throws {
        try await sleep(until: instant)
    }

    /// Waits for `duration`; throws `CancellationError` as soon as the task is cancelled.
    public func sleep(for duration: Duration) async throws {
        try await sleep(until: now.advanced(by: duration))
    }
}

/// A point on a monotonic clock, in nanoseconds since an unspecified start.
public struct MonotonicInstant: Comparable, Hashable, Sendable {
    package var nanoseconds: Int64

    package init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// Returns the instant `duration` later. Durations beyond the clock's range (centuries) are clamped.
    public func advanced(by duration: Duration) -> MonotonicInstant {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(duration.wholeNanoseconds)
        return MonotonicInstant(nanoseconds: overflow ? (duration < .zero ? .min : .max) : sum)
    }

    /// Returns the time from this instant to `other`; negative when `other` is earlier.
    public func duration(to other: MonotonicInstant) -> Duration {
        .nanoseconds(other.nanoseconds.subtractingReportingOverflow(nanoseconds).partialValue)
    }

    /// Returns true if `left` is earlier.
    public static func < (left: MonotonicInstant, right: MonotonicInstant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}

/// The clocks of the operating system.
///
/// The monotonic clock stops while the device sleeps, on every system, so a call that was running before has the rest
/// of its time afterwards. The clock continues while the system suspends an app, so the deadline of a call may have
/// passed when the app is resumed.
public struct SystemTime: TimeSource {
    // The names of this clock differ: the one that Linux calls monotonic continues during sleep on Apple systems.
    #if canImport(Glibc) || canImport(Musl)
    private static var clock: clockid_t { CLOCK_MONOTONIC }
    #else
    private static var clock: clockid_t { CLOCK_UPTIME_RAW }
    #endif

    /// Creates a source that reads the system's clocks.
    public init() {}

    /// The nanoseconds since the system started, without the time in which it slept.
    public var now: MonotonicInstant {
        var time = timespec()
        clock_gettime(Self.clock, &time)
        return MonotonicInstant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// The current date of the system.
    public var date: Date { Date() }

    /// Waits with a timer of the runtime, without blocking a thread.
    public func sleep(until instant: MonotonicInstant) async throws {
        try Task.checkCancellation()
        // The timer may fire early by this clock, so the remaining time is checked again.
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

    /// A short text: `1.25 s`, `340 ms`, `85 µs`.
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
