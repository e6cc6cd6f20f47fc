// SPDX-License-Identifier: MIT

/// A policy that is checked when a request leaves the pipeline, after all waits, and that can still refuse the request.
package protocol SendCheck: AnyObject, Sendable {
    /// The policy that is checked after this one; nil for the last one.
    var outer: (any SendCheck)? { get }

    /// Throws if the request must no longer be sent.
    ///
    /// - `context`: the context of the attempt, including the time that it has waited in queues of the pipeline.
    func leave(at now: SystemTime.Instant, in context: ExchangeContext) throws
}

/// The latest deadline of the calls that share an exchange.
package final class SharedDeadline: Sendable {
    private let state = Locked<SystemTime.Deadline?>(nil)

    package init() {}

    /// The latest deadline; `.never` if a call without a deadline has joined, and until the first call joins.
    var latest: SystemTime.Deadline { state.withLock { $0 } ?? .never }

    package func join(_ deadline: SystemTime.Deadline) {
        state.withLock { latest in
            guard let known = latest else { return latest = deadline }
            guard let last = known.instant, let instant = deadline.instant else { return latest = .never }
            latest = SystemTime.Deadline(max(last, instant))
        }
    }
}
