// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewFoundation
package import CurlewHTTP
import CurlewStreams

extension HTTPResponse {
    /// Returns a 101 response, and runs `script` as the server of its connection, without sockets. When the script
    /// returns, the connection is closed with 1000. When the script throws, the connection is lost with that error.
    /// Sending throws `.limitExceeded` while 1,024 messages of the client wait for the script.
    public static func webSocket(
        subprotocol: String? = nil, _ script: @escaping @Sendable (MockWebSocket) async throws -> Void
    ) -> HTTPResponse {
        webSocket(MockSocketScript(MockResponse.SocketOptions(), script), subprotocol: subprotocol)
    }

    /// Returns the 101 response to a handshake that offers subprotocols in these fields, and runs the script.
    package static func webSocket(_ script: MockSocketScript, to headers: HTTPHeaders) -> HTTPResponse {
        let offered = headers[values: "Sec-WebSocket-Protocol"].flatMap { value in
            value.parts(",").map { String($0.trimmed()) }
        }
        return webSocket(script, subprotocol: offered.first { script.options.subprotocols.contains($0) })
    }

    private static func webSocket(_ script: MockSocketScript, subprotocol: String?) -> HTTPResponse {
        let socket = MemoryWebSocket(subprotocol: subprotocol)
        var response = HTTPResponse(status: 101)
        response.messageConnection = socket
        _ = script.start(on: ServerEnd(socket))
        return response
    }
}

/// A WebSocket connection without sockets: the client's end.
private final class MemoryWebSocket: MessageConnection {
    private struct State {
        var server: (code: WebSocketCloseCode, reason: String)?
        var client: (code: WebSocketCloseCode, reason: String)?
        var hasEnded = false
        var repliesToPings = true
    }

    let subprotocol: String?
    /// The messages of the client, and those of the server.
    let received = MessageQueue(messages: limit, bytes: .max)
    let sent = MessageQueue(messages: limit, bytes: .max)
    private let state = Monitor(State())
    private static let limit = 1024

    init(subprotocol: String?) {
        self.subprotocol = subprotocol
    }

    var closing: (code: WebSocketCloseCode, reason: String)? { state.withLock { $0.server ?? $0.client } }
    var clientClosing: (code: WebSocketCloseCode, reason: String)? { state.withLock { $0.client } }

    func send(_ message: WebSocketMessage) async throws { try add(message, to: received) }
    func receive() async throws -> WebSocketMessage? { try await sent.next() }

    func ping() async throws {
        switch await state.wait(until: { $0.hasEnded ? false : $0.repliesToPings ? true : nil }) {
        case true: return
        case false:
            throw NetworkError(.connectionLost(.requestMayHaveArrived), detail: "The connection has ended.")
        case nil: throw CancellationError()
        }
    }

    var repliesToPings: Bool {
        get { state.withLock { $0.repliesToPings } }
        set { state.withLock { $0.repliesToPings = newValue } }
    }

    func endPings() { state.withLock { $0.hasEnded = true } }

    func close(_ code: WebSocketCloseCode, reason: String) {
        state.withLock { state in
            if state.client == nil { state.client = (code, reason) }
            state.hasEnded = true
        }
        received.finish()
        sent.finish()
    }

    func closeByServer(_ code: WebSocketCloseCode, _ reason: String) {
        state.withLock { state in
            if state.client == nil, state.server == nil { state.server = (code, reason) }
            state.hasEnded = true
        }
        sent.finish()
        received.finish()
    }

    func add(_ message: WebSocketMessage, to queue: MessageQueue) throws(NetworkError) {
        guard queue.hasRoom else {
            throw NetworkError(
                .limitExceeded(.responseBody), detail: "\(Self.limit) messages wait for the other end of the mock.")
        }
        guard queue.add(message) else {
            throw NetworkError(.connectionLost(.requestNotSent), detail: "The connection is closed.")
        }
    }
}

/// The server's end of a connection without sockets.
private final class ServerEnd: MockSocketLink {
    private let socket: MemoryWebSocket

    init(_ socket: MemoryWebSocket) {
        self.socket = socket
    }

    var subprotocol: String? { socket.subprotocol }
    var clientClosing: (code: WebSocketCloseCode, reason: String)? { socket.clientClosing }
    var frames: [MockWebSocket.Frame] { [] }
    var violation: String? { nil }

    var repliesToPings: Bool {
        get { socket.repliesToPings }
        set { socket.repliesToPings = newValue }
    }

    func next() async throws -> WebSocketMessage? { try await socket.received.next() }

    func send(_ message: WebSocketMessage, frameSize: Int?) throws(NetworkError) {
        try socket.add(message, to: socket.sent)
    }

    func flush() async throws(NetworkError) {
        try await socket.sent.waitUntilEmpty()
        if socket.clientClosing != nil {
            throw NetworkError(.connectionLost(.requestMayHaveArrived), detail: "The client has closed the connection.")
        }
    }

    func control(_ kind: MockWebSocket.Kind, _ payload: Data) {}
    func setReading(_ isReading: Bool) {}

    func sendRaw(_ bytes: Data) throws(NetworkError) {
        throw NetworkError(
            .configuration, detail: "MockTransport carries messages, not bytes.",
            hint: "Use a MockServer for frames that violate the protocol.")
    }

    func close(_ code: WebSocketCloseCode, reason: String) {
        socket.closeByServer(code.isValidOnWire ? code : .noStatus, reason)
    }

    func lose(_ error: NetworkError, by interruption: MockResponse.Interruption) {
        if interruption != .stall {
            socket.endPings()
            socket.sent.finish(.failure(error))
        }
        socket.received.finish()
    }
}
