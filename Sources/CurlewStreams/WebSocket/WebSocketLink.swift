// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// The frames of a connection, for a transport that carries bytes or messages.
protocol WebSocketLink: Sendable {
    /// Whether receiving may decompress messages.
    var inflates: Bool { get }
    /// Returns the next events; nil at the end of the connection. Called by one task.
    func receive() async throws -> [WebSocketMachine.Event]?
    /// Sends a message, and waits until there is room for another one.
    func send(_ message: WebSocketMessage) async throws(NetworkError)
    /// Sends a ping. Its pong is an event.
    func ping(_ payload: Data) throws(NetworkError)
    /// Sends a pong, without waiting. Receiving must not wait for the network: the server may wait for the client.
    func pong(_ payload: Data)
    /// Sends a close frame. Nothing is sent after it.
    func close(_ code: WebSocketCloseCode?, reason: String)
    /// Ends the connection immediately.
    func cancel()
}

/// A link over a transport that carries bytes.
final class ByteLink: WebSocketLink {
    let inflates: Bool
    /// The machine that receives. The event loop's thread uses it, so it must not wait for senders.
    private let receiving: Locked<WebSocketMachine>
    private let sending: Locked<Sending>
    private let output: OutgoingBytes
    private let body: ResponseBody
    private let pull: Pull

    private struct Sending {
        /// Encoding changes nothing in the machine.
        let machine: WebSocketMachine
        /// The payload of the newest ping whose pong must wait, because much waits to be sent. The newest is enough
        /// (RFC 6455 §5.5.3).
        var pong: Data?
    }

    /// The number of events after which the receiver checks the room for messages.
    private static let eventsAtOnce = 64

    /// The iterator of the body. Only the receiving task uses it.
    private final class Pull: @unchecked Sendable {
        var iterator: ResponseBody.Iterator

        init(_ body: ResponseBody) { iterator = body.makeAsyncIterator() }
    }

    init(_ machine: WebSocketMachine, output: OutgoingBytes, body: ResponseBody) {
        inflates = machine.compression != nil
        receiving = Locked(machine)
        sending = Locked(Sending(machine: machine))
        self.output = output
        self.body = body
        pull = Pull(body)
    }

    func receive() async throws -> [WebSocketMachine.Event]? {
        // A violation after the last events, or events that did not fit into the last call.
        let pending = receiving.withLock { machine in
            Result { () throws(WebSocketViolation) in
                try machine.throwViolation()
                return machine.hasMore ? try machine.receive(Data(), maximum: Self.eventsAtOnce) : []
            }
        }
        let events = try pending.get()
        if !events.isEmpty { return events }
        guard let bytes = try await pull.iterator.next() else { return nil }
        let result = receiving.withLock { machine in
            Result { () throws(WebSocketViolation) in try machine.receive(bytes, maximum: Self.eventsAtOnce) }
        }
        return try result.get()
    }

    func send(_ message: WebSocketMessage) async throws(NetworkError) {
        // Frames enter the buffer in the order in which they were encoded, which compression depends on.
        let result = sending.withLock { state in
            Result { () throws(NetworkError) in
                sendPong(&state)
                do { try output.append(state.machine.encode(message)) } catch { throw error.asNetworkError }
            }
        }
        try result.get()
        try await output.waitForRoom()
    }

    func ping(_ payload: Data) throws(NetworkError) {
        try output.append(sending.withLock { $0.machine.encodePing(payload) })
    }

    func pong(_ payload: Data) {
        sending.withLock { state in
            state.pong = payload
            if output.hasRoom { sendPong(&state) }
        }
    }

    /// A connection that is already lost needs no pong.
    private func sendPong(_ state: inout Sending) {
        guard let payload = state.pong else { return }
        state.pong = nil
        try? output.append(state.machine.encodePong(payload))
    }

    func close(_ code: WebSocketCloseCode?, reason: String) {
        sending.withLock { output.finish(appending: $0.machine.encodeClose(code, reason: reason)) }
    }

    func cancel() {
        output.detach()
        body.cancel()
    }
}

extension Error {
    /// The error for a message that cannot be sent.
    fileprivate var asNetworkError: NetworkError {
        guard let violation = self as? WebSocketViolation else { return NetworkError(self) }
        return NetworkError(.encoding, detail: "The message cannot be sent: \(violation.text)", underlying: violation)
    }
}

/// A link over a transport that carries messages.
final class MessageLink: WebSocketLink {
    /// The transport decompresses.
    let inflates = false
    private let connection: any MessageConnection
    /// Whether the end of the connection was returned as an event.
    private let isClosed = Locked(false)

    init(_ connection: any MessageConnection) {
        self.connection = connection
    }

    func receive() async throws -> [WebSocketMachine.Event]? {
        if let message = try await connection.receive() { return [.message(message)] }
        guard let closing = connection.closing else { return nil }
        let isFirst = isClosed.withLock { isClosed in
            defer { isClosed = true }
            return !isClosed
        }
        return isFirst ? [.close(closing.code, reason: closing.reason)] : nil
    }

    func send(_ message: WebSocketMessage) async throws(NetworkError) {
        do { try await connection.send(message) } catch { throw NetworkError(error) }
    }

    /// Throws `.configuration`: `WebSocketCore.ping` uses the connection's own ping.
    func ping(_ payload: Data) throws(NetworkError) {
        throw NetworkError(.configuration, detail: "This transport sends its own pings.")
    }

    /// Does nothing: the transport replies to pings.
    func pong(_ payload: Data) {}

    func close(_ code: WebSocketCloseCode?, reason: String) {
        connection.close(code ?? .normal, reason: reason)
    }

    func cancel() {
        connection.cancel()
    }

    var ownPing: @Sendable () async throws -> Void { { [connection] in try await connection.ping() } }
}
