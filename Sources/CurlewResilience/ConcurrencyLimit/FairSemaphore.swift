// SPDX-License-Identifier: MIT

package import CurlewCore

/// A counting semaphore with a fair queue of waiting elements, as a value without I/O.
package struct FairSemaphore<Element> {
    /// The maximum number of permits in use.
    package let permits: Int
    package private(set) var running = 0
    private var queue: FairQueue<Element>

    /// Creates a semaphore whose permits are all available.
    ///
    /// - `capacity`: the maximum number of waiting elements.
    package init(permits: Int, capacity: Int) {
        self.permits = permits
        queue = FairQueue(capacity: capacity)
    }

    /// The number of waiting elements.
    package var count: Int { queue.count }

    /// Whether an element waits and a permit is available.
    package var isDue: Bool { running < permits && !queue.isEmpty }

    /// Whether no permit is in use and no element waits.
    package var isIdle: Bool { running == 0 && queue.isEmpty }

    /// The waiting elements, in no particular order.
    package var elements: some Collection<Element> { queue.elements }

    /// Takes a permit. Returns false if none is available or elements already wait.
    package mutating func acquire() -> Bool {
        guard running < permits, queue.isEmpty else { return false }
        running += 1
        return true
    }

    /// Adds an element to the queue. Returns a ticket for `leave(_:)`, or nil if the queue is full.
    package mutating func wait(_ element: Element, _ priority: RequestOptions.Priority) -> UInt64? {
        queue.wait(element, priority)
    }

    /// Removes the next element from the queue and returns it with a permit. Returns nil if no permit is available or
    /// no element waits.
    package mutating func next() -> Element? {
        guard running < permits, let element = queue.next() else { return nil }
        running += 1
        return element
    }

    /// Releases a permit.
    package mutating func finish() {
        running -= 1
    }

    /// Removes a waiting element before its turn. Returns false if its turn has already come, so that it holds a
    /// permit.
    @discardableResult
    package mutating func leave(_ ticket: UInt64) -> Bool {
        queue.leave(ticket)
    }
}
