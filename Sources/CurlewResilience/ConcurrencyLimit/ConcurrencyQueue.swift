// SPDX-License-Identifier: MIT

import CurlewCore

/// The permits and the waiting calls of one scope, as a value without I/O.
struct ConcurrencyQueue<Waiter> {
    private let permits: Int
    /// The number of permits in use.
    private(set) var running = 0
    private var queue: FairQueue<Waiter>

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
    mutating func wait(_ waiter: Waiter, _ priority: RequestOptions.Priority) -> UInt64? {
        queue.wait(waiter, priority)
    }

    /// Removes a call from the queue. Returns false if its turn has already come.
    mutating func leave(_ ticket: UInt64) -> Bool { queue.leave(ticket) }

    /// Releases the permit of an exchange, or passes it to the waiting call whose turn it is, which is returned.
    mutating func finish() -> Waiter? {
        let next = queue.next()
        if next == nil { running -= 1 }
        return next
    }
}
