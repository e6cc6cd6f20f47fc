// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// The permits and the waiting calls of one scope, as a value without I/O.
struct ConcurrencyQueue<Waiter> {
    private struct Entry {
        let waiter: Waiter
        let deadline: SystemTime.Deadline
    }

    private let permits: Int
    /// The number of permits in use.
    private(set) var running = 0
    private var queue: FairQueue<Entry>
    private var usual = UsualTime()

    /// - `capacity`: the maximum number of waiting calls.
    init(permits: Int, capacity: Int) {
        self.permits = permits
        queue = FairQueue(capacity: capacity)
    }

    var waiting: Int { queue.count }
    var isIdle: Bool { running == 0 && queue.isEmpty }

    /// Takes a permit if one is free and no call waits for it. Returns whether it did.
    mutating func acquire() -> Bool {
        guard running < permits, queue.isEmpty else { return false }
        running += 1
        return true
    }

    /// Adds a call to the queue. Returns its ticket, or nil if the queue is full.
    mutating func wait(_ waiter: Waiter, until deadline: SystemTime.Deadline, _ priority: RequestOptions.Priority)
        -> UInt64?
    {
        queue.wait(Entry(waiter: waiter, deadline: deadline), priority)
    }

    /// Removes a call from the queue. Returns false if its turn has already come.
    mutating func leave(_ ticket: UInt64) -> Bool { queue.leave(ticket) }

    /// Learns how long an exchange took, from its response head or its failure.
    mutating func learn(_ outcome: ConcurrencyOutcome) {
        switch outcome {
        case .responded(let time): usual.add(time)
        case .gaveUp(let time):
            // If timeouts did not count, only calls that had enough time would, and the usual time would be too short.
            if let typical = usual.time, time >= typical { usual.add(time) }
        case .unknown: break
        }
    }

    /// Releases the permit of an exchange and passes free permits on. Returns two lists of waiting calls: those whose
    /// turn it is, and those that lose their turn because they have less time left than a typical call takes, each with
    /// the time that it has left.
    ///
    /// - `now`: the time that decides which calls lose their turn; nil if none does.
    mutating func finish(at now: SystemTime.Instant?) -> (going: [Waiter], late: [(waiter: Waiter, left: Duration)]) {
        running -= 1
        var (going, late): ([Waiter], [(waiter: Waiter, left: Duration)]) = ([], [])
        while running < permits, let next = queue.next() {
            if let now, let usual = usual.time, let left = next.deadline.remaining(at: now), left < usual {
                late.append((next.waiter, left))
            } else {
                running += 1
                going.append(next.waiter)
            }
        }
        return (going, late)
    }

    /// The time of a typical call; nil until ten are known.
    var usualTime: Duration? { usual.time }
}

/// The outcome of an exchange, as a concurrency limit counts it.
enum ConcurrencyOutcome: Hashable, Sendable {
    /// The response head arrived after this duration.
    case responded(Duration)
    /// No response arrived in this duration before a total or attempt timeout. Counts only if it is longer than
    /// expected.
    case gaveUp(Duration)
    /// The outcome does not tell how long a typical call takes.
    case unknown

    init(_ response: borrowing HTTPResponse, after took: Duration) {
        // The refusals of an overloaded server are quick.
        let isRefusal = response.status == .tooManyRequests || response.status == .serviceUnavailable
        self = isRefusal ? .unknown : .responded(max(.zero, took))
    }

    init(_ error: NetworkError, after took: Duration) {
        switch error.reason {
        case .timedOut(.total), .timedOut(.attempt): self = .gaveUp(took)
        default: self = .unknown
        }
    }
}
