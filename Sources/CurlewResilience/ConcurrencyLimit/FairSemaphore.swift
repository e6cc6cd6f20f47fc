// SPDX-License-Identifier: MIT

package import CurlewCore

/// A number of permits and a fair queue for elements that wait for one. Without I/O.
package struct FairSemaphore<Element> {
    /// The maximum number of permits in use. When it grows, `next` assigns the new permits.
    package var permits: Int
    package private(set) var running = 0
    private var queue: FairQueue<Element>

    /// - `capacity`: the maximum number of waiting elements.
    package init(permits: Int, capacity: Int) {
        self.permits = permits
        queue = FairQueue(capacity: capacity)
    }

    /// The number of waiting elements.
    package var count: Int { queue.count }

    /// Whether an element waits and a permit is available.
    package var isDue: Bool { running < permits && !queue.isEmpty }

    /// True if no permit is in use and no element waits.
    package var isIdle: Bool { running == 0 && queue.isEmpty }

    /// The waiting elements, in no order.
    package var elements: some Collection<Element> { queue.elements }

    /// Takes a permit. Returns false if none is available or elements already wait.
    package mutating func acquire() -> Bool {
        guard running < permits, queue.isEmpty else { return false }
        running += 1
        return true
    }

    /// Enqueues an element. Returns a ticket for `leave(_:)`, or nil when the queue is full.
    package mutating func wait(_ element: Element, _ priority: RequestOptions.Priority) -> UInt64? {
        queue.wait(element, priority)
    }

    /// Removes and returns the next element, which takes a permit; nil when no permit is available or no element waits.
    package mutating func next() -> Element? {
        guard running < permits, let element = queue.next() else { return nil }
        running += 1
        return element
    }

    /// Returns a permit.
    package mutating func finish() {
        running -= 1
    }

    /// Removes an element before its turn. Returns false if it has already been removed and holds a permit.
    @discardableResult
    package mutating func leave(_ ticket: UInt64) -> Bool {
        queue.leave(ticket)
    }
}
