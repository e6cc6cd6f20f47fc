// SPDX-License-Identifier: MIT

#if os(Linux)
import CurlewCore

/// Who may begin next at one origin: the policy alone, without I/O.
///
/// A number of places, and a line for those that find none. The line is first come, first served within a priority, and
/// a higher priority goes first; but every eighth place goes to whoever has waited longest, so that a steady stream of
/// urgent work delays the rest and never starves it.
struct WaitingLine<Element> {
    /// How many may be under way at a time. When it grows, `next` gives the new places away.
    var places: Int
    /// How many may wait.
    let capacity: Int
    private(set) var running = 0

    private var waiting: [UInt64: Element] = [:]
    private var lists = [Tickets(), Tickets(), Tickets()]
    private var lastTicket: UInt64 = 0
    private var grants = 0

    private static var fairShare: Int { 8 }

    init(places: Int, capacity: Int) {
        self.places = places
        self.capacity = capacity
    }

    /// How many wait.
    var count: Int { waiting.count }

    /// Whether somebody waits and there is a place.
    var isDue: Bool { running < places && !waiting.isEmpty }

    /// Those who wait, in no order.
    var elements: some Collection<Element> { waiting.values }

    /// Takes a place, if there is one and nobody waits for it.
    mutating func enter() -> Bool {
        guard running < places, waiting.isEmpty else { return false }
        running += 1
        return true
    }

    /// Stands in line. The ticket is for `leave(_:)`; nil when the line is full.
    mutating func wait(_ element: Element, _ priority: RequestPriority) -> UInt64? {
        guard waiting.count < capacity else { return nil }
        lastTicket += 1
        waiting[lastTicket] = element
        lists[priority.rawValue].append(lastTicket)
        return lastTicket
    }

    /// Somebody's turn, who takes a place with it; nil when there is no place or nobody waits.
    mutating func next() -> Element? {
        guard isDue else { return nil }
        grants += 1
        for index in lists.indices {
            while let ticket = lists[index].first, waiting[ticket] == nil { lists[index].removeFirst() }
        }
        let heads = lists.indices.compactMap { index in lists[index].first.map { (index: index, ticket: $0) } }
        let isForLongest = grants % Self.fairShare == 0
        guard let turn = isForLongest ? heads.min(by: { $0.ticket < $1.ticket }) : heads.last else { return nil }
        lists[turn.index].removeFirst()
        running += 1
        return waiting.removeValue(forKey: turn.ticket)
    }

    /// Gives a place back.
    mutating func finish() {
        running -= 1
    }

    /// Leaves the line before it was one's turn.
    mutating func leave(_ ticket: UInt64) {
        waiting[ticket] = nil
        let kept = lists.reduce(0) { $0 + $1.count }
        guard kept > 2 * waiting.count + 64 else { return }
        for index in lists.indices { lists[index] = Tickets(lists[index].filter { waiting[$0] != nil }) }
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
#endif
