// SPDX-License-Identifier: MIT

/// A fair priority queue without I/O, for the exchanges that wait in a rate limit, a concurrency limit or a transport.
///
/// Elements with a higher priority are served first, and elements with equal priority in order of arrival. Every eighth
/// turn is for the element that has waited longest, so a steady stream of urgent work delays other work but does not
/// starve it.
package struct FairQueue<Element> {
    private struct Entry {
        let element: Element
        let priority: RequestOptions.Priority
    }

    /// The maximum number of waiting elements.
    let capacity: Int

    private var waiting: [UInt64: Entry] = [:]
    private var lists = [Tickets(), Tickets(), Tickets()]
    private var counts = [0, 0, 0]
    private var lastTicket: UInt64 = 0
    private var turns = 0

    private static var fairShare: Int { 8 }

    package init(capacity: Int) {
        self.capacity = capacity
    }

    package var count: Int { waiting.count }

    package var isEmpty: Bool { waiting.isEmpty }

    package var elements: some Collection<Element> { waiting.values.lazy.map(\.element) }

    /// Returns the number of elements that will certainly be served before a new element of this priority.
    package func ahead(of priority: RequestOptions.Priority) -> Int {
        counts[priority.rawValue...].reduce(0, +)
    }

    /// Enqueues an element. Returns a ticket for `leave(_:)`, or nil when the queue is full.
    package mutating func wait(_ element: Element, _ priority: RequestOptions.Priority) -> UInt64? {
        guard waiting.count < capacity else { return nil }
        lastTicket += 1
        waiting[lastTicket] = Entry(element: element, priority: priority)
        counts[priority.rawValue] += 1
        lists[priority.rawValue].numbers.append(lastTicket)
        return lastTicket
    }

    /// Removes and returns the next element; nil when the queue is empty.
    package mutating func next() -> Element? {
        guard !waiting.isEmpty else { return nil }
        turns += 1
        for index in lists.indices {
            while let ticket = lists[index].first, waiting[ticket] == nil { lists[index].removeFirst() }
        }
        let heads = lists.indices.compactMap { index in lists[index].first.map { (index: index, ticket: $0) } }
        let isForOldest = turns % Self.fairShare == 0
        guard let turn = isForOldest ? heads.min(by: { $0.ticket < $1.ticket }) : heads.last else { return nil }
        lists[turn.index].removeFirst()
        return remove(turn.ticket)
    }

    /// Removes an element before its turn. Returns false if the element has already left the queue.
    @discardableResult
    package mutating func leave(_ ticket: UInt64) -> Bool {
        guard remove(ticket) != nil else { return false }
        let kept = lists.reduce(0) { $0 + $1.count }
        guard kept > 2 * waiting.count + 64 else { return true }
        lists = lists.map { Tickets(numbers: $0.numbers.filter { waiting[$0] != nil }) }
        return true
    }

    private mutating func remove(_ ticket: UInt64) -> Element? {
        guard let entry = waiting.removeValue(forKey: ticket) else { return nil }
        counts[entry.priority.rawValue] -= 1
        return entry.element
    }
}

/// Tickets in the order in which they were issued. Cancelled tickets remain until they reach the front, or until they
/// are the majority.
private struct Tickets {
    var numbers: [UInt64] = []
    var start = 0

    var count: Int { numbers.count - start }
    var first: UInt64? { start < numbers.count ? numbers[start] : nil }

    mutating func removeFirst() {
        start += 1
        guard start > 32, start * 2 > numbers.count else { return }
        numbers.removeFirst(start)
        start = 0
    }
}
