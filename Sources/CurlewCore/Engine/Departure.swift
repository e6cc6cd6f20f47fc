// SPDX-License-Identifier: MIT

/// A policy that is checked when a request leaves the pipeline, after all waits. It is the last chance to refuse the
/// request.
package protocol Departure: AnyObject, Sendable {
    /// The policy that is checked after this one.
    var outer: (any Departure)? { get }

    /// Throws if the request must not be sent any more.
    ///
    /// - `context`: the context of the attempt, with its time in queues of the pipeline.
    func leave(at now: MonotonicInstant, in context: ExchangeContext) throws
}

/// The latest deadline of the calls that share an exchange.
package final class SharedDeadline: Sendable {
    private let state = Locked<Deadline?>(nil)

    package init() {}

    /// The latest deadline; `.never` until a call has joined.
    var latest: Deadline { state.withLock { $0 } ?? .never }

    package func join(_ deadline: Deadline) {
        state.withLock { latest in
            guard let known = latest else { return latest = deadline }
            guard let last = known.instant, let instant = deadline.instant else { return latest = .never }
            latest = Deadline(max(last, instant))
        }
    }
}
