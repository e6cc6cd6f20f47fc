// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// The messages of one direction of a WebSocket connection that wait for their reader.
final class MessageQueue: Sendable {
    private struct State: Sendable {
        var messages: [WebSocketMessage] = []
        var bytes = 0
        var end: Result<Void, NetworkError>?
    }

    private let state = Monitor(State())

    enum Outcome { case added, full, ended }

    /// Adds a message, unless `limit` messages wait already or the queue has ended.
    @discardableResult
    func add(_ message: WebSocketMessage, limit: Int = .max) -> Outcome {
        state.withLock { state in
            guard state.end == nil else { return .ended }
            guard state.messages.count < limit else { return .full }
            state.messages.append(message)
            state.bytes += message.count
            return .added
        }
    }

    /// Whether fewer messages wait than `messages`, and fewer bytes than `bytes`. True after the end.
    func hasRoom(messages: Int, bytes: Int) -> Bool {
        state.withLock { $0.end != nil || ($0.messages.count < messages && $0.bytes < bytes) }
    }

    /// Ends the queue. Waiting messages can still be read. Only the first end counts.
    func finish(_ error: NetworkError? = nil) {
        state.withLock { state in
            if state.end == nil { state.end = error.map { .failure($0) } ?? .success(()) }
        }
    }

    /// Returns the next message; nil at the end. Throws the error of the end, and `CancellationError`.
    func next() async throws -> WebSocketMessage? {
        let result = await state.wait { state -> Result<WebSocketMessage?, NetworkError>? in
            guard !state.messages.isEmpty else { return state.end.map { $0.map { nil } } }
            let message = state.messages.removeFirst()
            state.bytes -= message.count
            return .success(message)
        }
        guard let result else { throw CancellationError() }
        return try result.get()
    }

    /// Waits until all messages have been read, or the queue has ended.
    func waitUntilEmpty() async throws {
        let isDone: Void? = await state.wait { $0.messages.isEmpty || $0.end != nil ? () : nil }
        guard isDone != nil else { throw CancellationError() }
    }
}
