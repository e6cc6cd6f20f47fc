// SPDX-License-Identifier: MIT

/// A moment after which work is pointless, or none.
///
/// Deadlines are values carried by the exchange, not races between tasks: whoever waits asks how much is left.
public struct Deadline: Hashable, Sendable {
    /// The last moment, or nil when the work may take for ever.
    public var instant: MonotonicInstant?

    /// A deadline at `instant`.
    public init(_ instant: MonotonicInstant?) {
        self.instant = instant
    }

    /// No limit.
    public static let never = Deadline(nil)

    /// A deadline `duration` after `start`; nil and infinite durations give `.never`.
    public init(_ duration: Duration?, after start: MonotonicInstant) {
        instant = duration.map { start.advanced(by: $0) }
    }

    /// The time left at `now`, never negative; nil when there is no limit.
    public func remaining(at now: MonotonicInstant) -> Duration? {
        instant.map { Swift.max(.zero, now.duration(to: $0)) }
    }

    /// True when the moment has come.
    public func hasPassed(at now: MonotonicInstant) -> Bool {
        instant.map { $0 <= now } ?? false
    }

    /// The earlier of the two.
    public func earlier(_ other: Deadline) -> Deadline {
        guard let mine = instant else { return other }
        guard let theirs = other.instant else { return self }
        return Deadline(Swift.min(mine, theirs))
    }
}

/// A wait ended because its deadline came. Callers see `NetworkError` with `.timedOut(.total)`.
package struct DeadlinePassed: Error {
    package init() {}
}
