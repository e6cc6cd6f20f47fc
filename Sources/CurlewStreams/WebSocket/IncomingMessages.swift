// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// The received messages that wait for the reader. One task adds messages, one task at a time takes them.
final class IncomingMessages: Sendable {
    private struct State {
        var messages: [WebSocketMessage] = []
        /// The number of messages at the beginning that the reader has taken.
        var taken = 0
        var bytes = 0
        var end: Result<Void, NetworkError>?
        var drops = false
        var reader: UnsafeContinuation<Void, Never>?
        var adder: UnsafeContinuation<Void, Never>?

        mutating func take() -> WebSocketMessage? {
            guard taken < messages.count else { return nil }
            let message = messages[taken]
            taken += 1
            bytes -= message.count
            if taken == messages.count {
                messages.removeAll(keepingCapacity: messages.capacity <= 64)
                taken = 0
            } else if taken >= 64, taken * 2 >= messages.count {
                messages.removeFirst(taken)
                taken = 0
            }
            return message
        }
    }

    private let limits: (messages: Int, bytes: Int)
    private let state = Locked(State())

    init(messages: Int, bytes: Int) {
        limits = (max(1, messages), max(1, bytes))
    }

    /// Whether the queue has room for more messages.
    var hasRoom: Bool { state.withLock { hasRoom($0) } }

    private func hasRoom(_ state: State) -> Bool {
        state.drops || state.end != nil
            || (state.messages.count - state.taken < limits.messages && state.bytes < limits.bytes)
    }

    /// Adds a message, without waiting.
    func add(_ message: WebSocketMessage) {
        let reader = state.withLock { state -> UnsafeContinuation<Void, Never>? in
            guard !state.drops, state.end == nil else { return nil }
            state.messages.append(message)
            state.bytes += message.count
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume()
    }

    /// Waits until there is room. Called by one task.
    func waitForRoom() async {
        guard !hasRoom else { return }
        await withUnsafeContinuation { continuation in
            let goesOn = state.withLock { state in
                if hasRoom(state) { return true }
                state.adder = continuation
                return false
            }
            if goesOn { continuation.resume() }
        }
    }

    /// Drops the waiting messages and all later ones.
    func dropAll() {
        let adder = state.withLock { state in
            state.drops = true
            (state.messages, state.taken, state.bytes) = ([], 0, 0)
            defer { state.adder = nil }
            return state.adder
        }
        adder?.resume()
    }

    /// Ends the sequence. Waiting messages can still be read. Only the first end counts.
    func finish(_ end: Result<Void, NetworkError>) {
        let (reader, adder) = state.withLock { state in
            if state.end == nil { state.end = end }
            defer { (state.reader, state.adder) = (nil, nil) }
            return (state.reader, state.adder)
        }
        reader?.resume()
        adder?.resume()
    }

    /// The result of the sequence; nil while it is open.
    var end: Result<Void, NetworkError>? { state.withLock { $0.end } }

    /// Returns the next message; nil at the end.
    func next() async throws(NetworkError) -> WebSocketMessage? {
        while true {
            let (message, end, adder) = state.withLock { state in
                let message = state.take()
                guard message != nil, hasRoom(state) else {
                    return (message, message == nil ? state.end : nil, nil as UnsafeContinuation<Void, Never>?)
                }
                defer { state.adder = nil }
                return (message, nil, state.adder)
            }
            adder?.resume()
            if let message { return message }
            if let end {
                try end.get()
                return nil
            }
            if Task.isCancelled { throw NetworkError(.cancelled) }
            try await waitForMessage()
        }
    }

    private func waitForMessage() async throws(NetworkError) {
        let isSecond = Locked(false)
        await withTaskCancellationHandler {
            await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
                let waits = state.withLock { state -> Bool in
                    if state.reader != nil {
                        isSecond.withLock { $0 = true }
                        return false
                    }
                    if state.taken < state.messages.count || state.end != nil || Task.isCancelled { return false }
                    state.reader = continuation
                    return true
                }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            let reader = state.withLock { state in
                defer { state.reader = nil }
                return state.reader
            }
            reader?.resume()
        }
        guard !isSecond.withLock({ $0 }) else {
            throw NetworkError(
                .invalidRequest, detail: "Two tasks read one WebSocket at the same time.",
                hint: "Read in one task, and pass the messages on.")
        }
    }
}
