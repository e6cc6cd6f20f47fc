// SPDX-License-Identifier: MIT

/// A point in time after which work is ended, or none.
///
/// Deadlines are values that the exchange carries, not races between tasks. Each wait computes the time that is left.
public struct Deadline: Hashable, Sendable {
    /// The point in time; nil without a limit.
    public var instant: MonotonicInstant?

    /// Creates a deadline at `instant`.
    public init(_ instant: MonotonicInstant?) {
        self.instant = instant
    }

    /// No limit.
    public static let never = Deadline(nil)

    /// Creates a deadline `duration` after `start`. A nil or infinite duration results in `.never`.
    public init(_ duration: Duration?, after start: MonotonicInstant) {
        instant = duration.map { start.advanced(by: $0) }
    }

    /// Returns the time left at `now`, never negative; nil when there is no limit.
    public func remaining(at now: MonotonicInstant) -> Duration? {
        instant.map { Swift.max(.zero, now.duration(to: $0)) }
    }

    /// Returns true if the deadline has passed at `now`.
    public func hasPassed(at now: MonotonicInstant) -> Bool {
        instant.map { $0 <= now } ?? false
    }

    /// Returns the earlier of the two deadlines.
    public func earlier(_ other: Deadline) -> Deadline {
        guard let mine = instant else { return other }
        guard let theirs = other.instant else { return self }
        return Deadline(Swift.min(mine, theirs))
    }
}

/// The error of a wait whose deadline passed. Callers receive `NetworkError` with `.timedOut(.total)`.
package struct DeadlinePassed: Error {
    package init() {}
}
