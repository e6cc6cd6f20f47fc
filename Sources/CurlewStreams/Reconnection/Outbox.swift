// SPDX-License-Identifier: MIT

import CurlewHTTP

/// The messages from the caller that are not acknowledged, in order: those that were sent on the current connection,
/// then those that wait. A value, without any I/O.
///
///     add ──▶ waiting ──take──▶ sent ──acknowledge──▶ gone
///                ▲                │
///                └──────lose──────┴──▶ handed back
struct Outbox: Sendable {
    /// A message with its number. Messages are sent in the order of their numbers, also when they are sent again.
    struct Item: Sendable {
        let number: UInt64
        let message: WebSocketMessage
        /// Whether the message was sent on a connection that was lost.
        var mayHaveArrived = false
    }

    private let limits: (messages: Int, bytes: Int)
    private var sent = Queue<Item>()
    private var waiting = Queue<Item>()
    private var bytes = 0
    /// The number of the next message that is added.
    private var next: UInt64 = 0
    /// The number after the last message that the transport has accepted on this connection.
    private(set) var mark: UInt64 = 0

    /// - `messages`, `bytes`: there is room while the outbox has less. One message may exceed `bytes`.
    init(messages: Int, bytes: Int) {
        limits = (max(1, messages), max(1, bytes))
    }

    var count: Int { sent.count + waiting.count }
    var isEmpty: Bool { count == 0 }
    var hasRoom: Bool { count < limits.messages && bytes < limits.bytes }

    /// Whether the sent messages are so many that their acknowledgement should not be delayed.
    var isHalfFull: Bool {
        sent.count * 2 >= limits.messages || bytes * 2 >= limits.bytes
    }

    /// Whether a pong would acknowledge a message.
    var isUnproven: Bool { sent.first.map { $0.number < mark } ?? false }

    /// Adds a message that waits.
    mutating func add(_ message: WebSocketMessage) {
        waiting.append(Item(number: next, message: message))
        next += 1
        bytes += message.count
    }

    /// Returns the next message to send. It counts as sent from now on, since the transport may send it at any time.
    mutating func take() -> Item? {
        guard let item = waiting.popFirst() else { return nil }
        sent.append(item)
        return item
    }

    /// Notes that the transport has accepted a message that was taken.
    mutating func accept(_ item: Item) {
        mark = item.number + 1
    }

    /// Acknowledges the sent messages with lower numbers.
    mutating func acknowledge(before number: UInt64) {
        while let first = sent.first, first.number < number {
            bytes -= first.message.count
            _ = sent.popFirst()
        }
    }

    /// Acknowledges the messages with these numbers.
    mutating func acknowledge(_ numbers: Set<UInt64>) {
        let removed =
            sent.removeAll { numbers.contains($0.number) } + waiting.removeAll { numbers.contains($0.number) }
        for item in removed { bytes -= item.message.count }
    }

    /// The messages that may have arrived, in order.
    var unacknowledged: [Item] { sent.elements + waiting.elements.filter(\.mayHaveArrived) }

    /// Ends the connection: the sent messages with these numbers wait again, before the others. Returns the rest.
    mutating func lose(resending numbers: Set<UInt64>) -> [WebSocketMessage] {
        let again = sent.removeAll { numbers.contains($0.number) }
        let lost = sent.elements.map(\.message)
        for message in lost { bytes -= message.count }
        waiting.prepend(again.map { Item(number: $0.number, message: $0.message, mayHaveArrived: true) })
        (sent, mark) = (Queue(), 0)
        return lost
    }

    /// Removes the messages that were never sent, and returns them.
    mutating func takeUnsent() -> [WebSocketMessage] {
        let unsent = waiting.removeAll { !$0.mayHaveArrived }.map(\.message)
        for message in unsent { bytes -= message.count }
        return unsent
    }

    /// Removes and returns all messages.
    mutating func removeAll() -> (unacknowledged: [WebSocketMessage], unsent: [WebSocketMessage]) {
        let all = (unacknowledged.map(\.message), takeUnsent())
        (sent, waiting, bytes) = (Queue(), Queue(), 0)
        return all
    }
}

/// An array with cheap removal at its beginning.
struct Queue<Element: Sendable>: Sendable {
    private var storage: [Element?] = []
    private var start = 0

    var count: Int { storage.count - start }
    var first: Element? { start < storage.count ? storage[start] : nil }
    var elements: [Element] { storage[start...].compactMap(\.self) }

    mutating func append(_ element: Element) {
        storage.append(element)
    }

    mutating func popFirst() -> Element? {
        guard start < storage.count, let element = storage[start] else { return nil }
        storage[start] = nil
        start += 1
        if start == storage.count || start >= 64 && start * 2 >= storage.count {
            storage.removeFirst(start)
            start = 0
        }
        return element
    }

    mutating func prepend(_ elements: [Element]) {
        guard !elements.isEmpty else { return }
        storage.replaceSubrange(..<start, with: elements)
        start = 0
    }

    /// Removes the elements that satisfy the condition, and returns them in order.
    mutating func removeAll(where isRemoved: (Element) -> Bool) -> [Element] {
        let all = elements
        let removed = all.filter(isRemoved)
        if !removed.isEmpty { (storage, start) = (all.filter { !isRemoved($0) }, 0) }
        return removed
    }
}
