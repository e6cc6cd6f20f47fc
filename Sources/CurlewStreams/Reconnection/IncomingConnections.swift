// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// The received messages of consecutive connections, which the reader takes in order.
final class IncomingConnections: Sendable {
    private struct State: Sendable {
        /// The queues of the connections, the oldest first. All but the last one have ended.
        var queues: [IncomingMessages] = []
        var end: Result<Void, NetworkError>?
    }

    private enum Step: Sendable {
        case read(IncomingMessages)
        case end(Result<Void, NetworkError>)
    }

    private let monitor = Monitor(State())

    /// Waits until the messages of at most one ended connection are unread. Otherwise a server that sends messages and
    /// closes each connection would fill the memory while the reader takes none.
    func waitForRoom() async {
        _ = await monitor.wait { state -> Bool? in
            state.queues.removeAll(where: \.isDrained)
            return state.queues.count < 2 ? true : nil
        }
    }

    /// Adds the messages of a connection.
    func add(_ queue: IncomingMessages) {
        monitor.update { $0.queues.append(queue) }
    }

    /// Ends the sequence. Received messages can still be read.
    func finish(_ end: Result<Void, NetworkError>) {
        monitor.update { state in
            if state.end == nil { state.end = end }
        }
    }

    /// Drops the messages that were not read.
    func dropAll() {
        let queues = monitor.update { state in
            defer { state.queues = [] }
            return state.queues
        }
        for queue in queues { queue.dropAll() }
    }

    /// Returns the next message; nil at the end.
    func next() async throws(NetworkError) -> WebSocketMessage? {
        while true {
            let step = await monitor.wait { state -> Step? in
                state.queues.removeAll(where: \.isDrained)
                return state.queues.first.map { .read($0) } ?? state.end.map { .end($0) }
            }
            switch step {
            case .read(let queue):
                if let message = try await next(in: queue) { return message }
            case .end(let end):
                try end.get()
                return nil
            case nil:
                throw NetworkError(.cancelled)
            }
        }
    }

    /// Returns the next message of a connection; nil once the connection has ended.
    private func next(in queue: IncomingMessages) async throws(NetworkError) -> WebSocketMessage? {
        do throws(NetworkError) {
            let message = try await queue.next()
            // The task that connects may wait for the last message of an ended connection to be taken.
            if queue.end != nil { monitor.update { _ in } }
            return message
        } catch {
            // The error of a lost connection is not that of the sequence.
            guard queue.end != nil, !error.isCancelled || !Task.isCancelled else { throw error }
            return nil
        }
    }
}
