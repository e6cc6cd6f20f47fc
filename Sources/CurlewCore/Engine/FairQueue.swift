// SPDX-License-Identifier: MIT

/// Who is next: the policy of every line in the package, alone and without I/O.
///
/// First come, first served within a priority, and a higher priority goes first; but every eighth turn is that of
/// whoever has waited longest, so that a steady stream of urgent work delays the rest and never starves it.
package struct FairQueue<Element> {
    private struct Entry {
        let element: Element
        let priority: RequestPriority
    }

    /// How many may wait.
    package let capacity: Int

    private var waiting: [UInt64: Entry] = [:]
    private var lists = [Tickets(), Tickets(), Tickets()]
    private var counts = [0, 0, 0]
    private var lastTicket: UInt64 = 0
    private var turns = 0

    private static var fairShare: Int { 8 }

    package init(capacity: Int) {
        self.capacity = capacity
    }

    /// How many wait.
    package var count: Int { waiting.count }

    package var isEmpty: Bool { waiting.isEmpty }

    /// Those who wait, in no order.
    package var elements: some Collection<Element> { waiting.values.lazy.map(\.element) }

    /// How many will certainly be served before somebody who came now with this priority.
    package func ahead(of priority: RequestPriority) -> Int {
        counts[priority.rawValue...].reduce(0, +)
    }

    /// Stands in line. The ticket is for `leave(_:)`; nil when the line is full.
    package mutating func wait(_ element: Element, _ priority: RequestPriority) -> UInt64? {
        guard waiting.count < capacity else { return nil }
        lastTicket += 1
        waiting[lastTicket] = Entry(element: element, priority: priority)
        counts[priority.rawValue] += 1
        lists[priority.rawValue].append(lastTicket)
        return lastTicket
    }

    /// Whose turn it is, who leaves the line with it; nil when nobody waits.
    package mutating func next() -> Element? {
        guard !waiting.isEmpty else { return nil }
        turns += 1
        for index in lists.indices {
            while let ticket = lists[index].first, waiting[ticket] == nil { lists[index].removeFirst() }
        }
        let heads = lists.indices.compactMap { index in lists[index].first.map { (index: index, ticket: $0) } }
        let isForLongest = turns % Self.fairShare == 0
        guard let turn = isForLongest ? heads.min(by: { $0.ticket < $1.ticket }) : heads.last else { return nil }
        lists[turn.index].removeFirst()
        return remove(turn.ticket)
    }

    /// Leaves the line before it was one's turn. False when that has come already.
    @discardableResult
    package mutating func leave(_ ticket: UInt64) -> Bool {
        guard remove(ticket) != nil else { return false }
        let kept = lists.reduce(0) { $0 + $1.count }
        guard kept > 2 * waiting.count + 64 else { return true }
        for index in lists.indices { lists[index] = Tickets(lists[index].filter { waiting[$0] != nil }) }
        return true
    }

    private mutating func remove(_ ticket: UInt64) -> Element? {
        guard let entry = waiting.removeValue(forKey: ticket) else { return nil }
        counts[entry.priority.rawValue] -= 1
        return entry.element
    }
}

/// Tickets in the order of their issue. Those given up stay until they come to the front, or until they are the most.
private struct Tickets {
    private var numbers: [UInt64]
    private var start = 0

    init(_ numbers: [UInt64] = []) {
        self.numbers = numbers
    }

    var count: Int { numbers.count - start }
    var first: UInt64? { start < numbers.count ? numbers[start] : nil }

    func filter(_ isKept: (UInt64) -> Bool) -> [UInt64] {
        numbers[start...].filter(isKept)
    }

    mutating func append(_ ticket: UInt64) {
        numbers.append(ticket)
    }

    mutating func removeFirst() {
        start += 1
        guard start > 32, start * 2 > numbers.count else { return }
        numbers.removeFirst(start)
        start = 0
    }
}
