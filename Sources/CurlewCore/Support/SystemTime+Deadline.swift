// SPDX-License-Identifier: MIT

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

        /// A deadline that never passes.
        package static let never = SystemTime.Deadline(nil)

        /// Creates a deadline `duration` after `start`. A nil duration results in `.never`.
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

/// The error that a wait throws when its deadline passes. Callers receive `NetworkError` with `.timedOut(.total)`.
package struct DeadlinePassed: Error {
    package init() {}
}
