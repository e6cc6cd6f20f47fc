// SPDX-License-Identifier: MIT

/// A number of places, and a fair line for those that find none. Without I/O.
package struct WaitingLine<Element> {
    /// How many may be under way at a time. When it grows, `next` gives the new places away.
    package var places: Int
    package private(set) var running = 0
    private var queue: FairQueue<Element>

    /// - `capacity`: how many may wait.
    package init(places: Int, capacity: Int) {
        self.places = places
        queue = FairQueue(capacity: capacity)
    }

    /// How many wait.
    package var count: Int { queue.count }

    /// Whether somebody waits and there is a place.
    package var isDue: Bool { running < places && !queue.isEmpty }

    /// Nobody is here.
    package var isIdle: Bool { running == 0 && queue.isEmpty }

    /// Those who wait, in no order.
    package var elements: some Collection<Element> { queue.elements }

    /// Takes a slot, if there is one and no call waits for it.
    package mutating func enter() -> Bool {
        guard running < places, queue.isEmpty else { return false }
        running += 1
        return true
    }

    /// Stands in line. The ticket is for `leave(_:)`; nil when the line is full.
    package mutating func wait(_ element: Element, _ priority: RequestPriority) -> UInt64? {
        queue.wait(element, priority)
    }

    /// Somebody's turn, who takes a place with it; nil when there is no place or nobody waits.
    package mutating func next() -> Element? {
        guard running < places, let element = queue.next() else { return nil }
        running += 1
        return element
    }

    /// Gives a place back.
    package mutating func finish() {
        running -= 1
    }

    /// Leaves the line before it was one's turn. False when that has come, and a place with it.
    @discardableResult
    package mutating func leave(_ ticket: UInt64) -> Bool {
        queue.leave(ticket)
    }
}
