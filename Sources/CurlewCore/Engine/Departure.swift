// SPDX-License-Identifier: MIT

/// Asked when a request leaves the pipeline: the last moment at which a policy may still refuse it, after all waits.
package protocol Departure: AnyObject, Sendable {
    /// Who is asked before this one.
    var outer: (any Departure)? { get }

    /// Throws if the request must not be sent any more.
    ///
    /// - `context`: that of the attempt, with what it has waited in queues of the pipeline.
    func leave(at now: MonotonicInstant, in context: ExchangeContext) throws
}

/// The latest deadline of the calls that have joined an exchange.
final class SharedDeadline: Sendable {
    private let state = Locked<Deadline?>(nil)

    /// `.never` as long as nobody has joined.
    var latest: Deadline { state.withLock { $0 } ?? .never }

    func join(_ deadline: Deadline) {
        state.withLock { latest in
            guard let known = latest else { return latest = deadline }
            guard let last = known.instant, let instant = deadline.instant else { return latest = .never }
            latest = Deadline(max(last, instant))
        }
    }
}
