// SPDX-License-Identifier: MIT

package import CurlewCore
package import CurlewHTTP

/// The messages of one direction of a WebSocket connection that wait for their reader.
package final class MessageQueue: Sendable {
    private struct State {
        var messages: [WebSocketMessage] = []
        /// The number of messages at the beginning that have been taken.
        var taken = 0
        var bytes = 0
        var drops = false
        var end: Result<Void, NetworkError>?

        var isEmpty: Bool { taken == messages.count }

        /// Removes and returns the next message, or returns the end. Nil if there is neither.
        mutating func next() -> Result<WebSocketMessage?, NetworkError>? {
            guard !isEmpty else { return end?.map { nil } }
            let message = messages[taken]
            taken += 1
            bytes -= message.count
            if isEmpty {
                messages.removeAll(keepingCapacity: messages.capacity <= 64)
                taken = 0
            } else if taken >= 64, taken * 2 >= messages.count {
                messages.removeFirst(taken)
                taken = 0
            }
            return .success(message)
        }
    }

    private let limits: (messages: Int, bytes: Int)
    private let state = Monitor(State())

    /// - `messages`, `bytes`: the numbers, at least 1, of waiting messages and of their bytes that leave no more room.
    package init(messages: Int, bytes: Int) {
        limits = (max(1, messages), max(1, bytes))
    }

    /// Whether the queue has room for more messages. True after the end, and when messages are dropped.
    package var hasRoom: Bool { state.withLock { hasRoom($0) } }

    private func hasRoom(_ state: State) -> Bool {
        state.drops || state.end != nil
            || (state.messages.count - state.taken < limits.messages && state.bytes < limits.bytes)
    }

    /// Adds a message without waiting, even without room; after `dropAll()`, drops it. Returns false after the end.
    @discardableResult
    package func add(_ message: WebSocketMessage) -> Bool {
        state.withLock { state in
            guard state.end == nil else { return false }
            guard !state.drops else { return true }
            state.messages.append(message)
            state.bytes += message.count
            return true
        }
    }

    func waitForRoom() async {
        await state.waitThroughCancellation { self.hasRoom($0) ? () : nil }
    }

    /// Waits until all messages have been read, or the queue has ended. Throws `.cancelled`.
    package func waitUntilEmpty() async throws(NetworkError) {
        let isDone: Void? = await state.wait { $0.isEmpty || $0.end != nil ? () : nil }
        guard isDone != nil else { throw NetworkError(.cancelled) }
    }

    /// Drops the waiting messages and all later ones.
    func dropAll() {
        state.withLock { state in
            state.drops = true
            (state.messages, state.taken, state.bytes) = ([], 0, 0)
        }
    }

    /// Ends the queue. Waiting messages can still be read. Only the first end counts.
    package func finish(_ end: Result<Void, NetworkError> = .success(())) {
        state.withLock { state in
            if state.end == nil { state.end = end }
        }
    }

    var end: Result<Void, NetworkError>? { state.withLock { $0.end } }

    /// Returns the next message; nil after the last one. Throws the error of the end, also later, and `.cancelled`.
    package func next() async throws(NetworkError) -> WebSocketMessage? {
        guard let result = await state.wait(until: { $0.next() }) else { throw NetworkError(.cancelled) }
        return try result.get()
    }
}
