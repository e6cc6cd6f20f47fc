// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import CurlewTesting

/// A server behind a network that delivers messages and pings in order, when a test says so, and loses those in flight
/// when a connection is lost.
final class LossyServer: Sendable {
    private struct State {
        var connections: [LossyConnection] = []
        var delivered: [WebSocketMessage] = []
        var deliversAtOnce = false
    }

    private let state = Locked(State())

    /// The messages that have arrived, in order.
    var delivered: [WebSocketMessage] { state.withLock { $0.delivered } }

    var connections: [LossyConnection] { state.withLock { $0.connections } }

    func client(on clock: ManualClock = .skippingWaits) -> APIClient {
        let mock = MockTransport.answering { [weak self] _ in
            guard let self else { throw NetworkError(.unreachable) }
            let connection = LossyConnection(self)
            let deliversAtOnce = state.withLock { state in
                state.connections.append(connection)
                return state.deliversAtOnce
            }
            if deliversAtOnce { connection.deliverAtOnce() }
            var response = HTTPResponse(status: .switchingProtocols)
            response.messageConnection = connection
            return response
        }
        return .mock(mock, configuration: APIClient.Configuration(time: clock))
    }

    /// Delivers everything from now on.
    func repair() {
        let connections = state.withLock { state in
            state.deliversAtOnce = true
            return state.connections
        }
        for connection in connections { connection.deliverAtOnce() }
    }

    fileprivate func arrive(_ message: WebSocketMessage) {
        state.withLock { $0.delivered.append(message) }
    }
}

final class LossyConnection: MessageConnection {
    private enum Item {
        case message(WebSocketMessage)
        case ping(CheckedContinuation<Bool, Never>)
    }

    private struct State {
        var flight: [Item] = []
        var sent: [WebSocketMessage] = []
        /// The number of sent messages that a pong has proved to have arrived.
        var proven = 0
        var arrived = 0
        var hasEnded = false
        var deliversAtOnce = false
        var closing: (code: WebSocketCloseCode, reason: String)?
        var closer: AsyncThrowingStream<WebSocketMessage, any Error>.Continuation?
    }

    private let server: LossyServer
    private let incoming: AsyncThrowingStream<WebSocketMessage, any Error>
    private let state = Locked(State())

    init(_ server: LossyServer) {
        self.server = server
        let (stream, continuation) = AsyncThrowingStream<WebSocketMessage, any Error>.makeStream()
        incoming = stream
        state.withLock { $0.closer = continuation }
    }

    let subprotocol: String? = nil
    var closing: (code: WebSocketCloseCode, reason: String)? { state.withLock { $0.closing } }
    /// The messages that the client has sent, and how many of them a pong has proved to have arrived.
    var sent: (messages: [WebSocketMessage], proven: Int) { state.withLock { ($0.sent, $0.proven) } }

    func send(_ message: WebSocketMessage) async throws {
        try state.withLock { state in
            guard !state.hasEnded else { throw NetworkError(.connectionLost(.requestNotSent)) }
            state.sent.append(message)
            state.flight.append(.message(message))
        }
        settle()
    }

    func ping() async throws {
        let isHere = await withCheckedContinuation { continuation in
            let isLate = state.withLock { state in
                if !state.hasEnded { state.flight.append(.ping(continuation)) }
                return state.hasEnded
            }
            if isLate { continuation.resume(returning: false) } else { settle() }
        }
        guard isHere else { throw NetworkError(.connectionLost(.requestMayHaveArrived)) }
    }

    func receive() async throws -> WebSocketMessage? {
        var iterator = incoming.makeAsyncIterator()
        return try await iterator.next()
    }

    func close(_ code: WebSocketCloseCode, reason: String) {
        end(nil, closing: (code, reason))
    }

    /// Delivers the next message or ping.
    func deliver() {
        let pong = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            guard !state.hasEnded, !state.flight.isEmpty else { return nil }
            switch state.flight.removeFirst() {
            case .message(let message):
                server.arrive(message)
                state.arrived += 1
                return nil
            case .ping(let continuation):
                state.proven = state.arrived
                return continuation
            }
        }
        pong?.resume(returning: true)
    }

    func deliverAtOnce() {
        state.withLock { $0.deliversAtOnce = true }
        settle()
    }

    private func settle() {
        while state.withLock({ $0.deliversAtOnce && !$0.hasEnded && !$0.flight.isEmpty }) { deliver() }
    }

    /// Ends the connection, with what is in flight. `closing` is the close frame of the server.
    func lose(closing: (code: WebSocketCloseCode, reason: String)? = nil) {
        end(closing == nil ? NetworkError(.connectionLost(.requestMayHaveArrived)) : nil, closing: closing)
    }

    private func end(_ error: NetworkError?, closing: (code: WebSocketCloseCode, reason: String)?) {
        let (flight, closer) = state.withLock { state in
            if !state.hasEnded { state.closing = closing }
            state.hasEnded = true
            defer { state.flight = [] }
            return (state.flight, state.closer)
        }
        for case .ping(let continuation) in flight { continuation.resume(returning: false) }
        closer?.finish(throwing: error)
    }
}
