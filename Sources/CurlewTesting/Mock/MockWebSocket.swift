// SPDX-License-Identifier: MIT

public import CurlewCore
public import CurlewHTTP

/// The server's end of a WebSocket connection without sockets, for scripts of `HTTPResponse.webSocket(_:)`.
///
///     let mock = MockTransport()
///     mock.on(.get, "/chat") { _ in
///         .webSocket { peer in
///             while let message = try await peer.next() { try peer.send(message) }      // an echo
///         }
///     }
public final class MockWebSocket: Sendable {
    private let received: Pipe
    private let sent: Pipe
    private let link: Link

    fileprivate init(subprotocol: String?) {
        (received, sent) = (Pipe(), Pipe())
        link = Link(subprotocol: subprotocol, output: received, input: sent)
    }

    /// Returns the next message from the client; nil once the client has closed the connection. One task at a time.
    public func next() async throws -> WebSocketMessage? {
        try await received.next()
    }

    /// Sends a message to the client. At most 1,024 messages wait for the client; more throw `.limitExceeded`.
    public func send(_ message: WebSocketMessage) throws(NetworkError) {
        try sent.add(message)
    }

    /// Sends a text message to the client; see `send(_:)`.
    public func send(_ text: String) throws(NetworkError) {
        try sent.add(.text(text))
    }

    /// Closes the connection with this code and reason. The client receives the messages sent before.
    public func close(_ code: WebSocketCloseCode = .normal, reason: String = "") {
        link.closeByServer(code, reason)
    }

    /// Ends the connection without a close frame, as when the network dies. The client throws `error`.
    public func lose(_ error: NetworkError = NetworkError(.connectionLost(.requestMayHaveArrived))) {
        link.endPings()
        sent.finish(error)
        received.finish(nil)
    }

    /// Whether pings of the client receive pongs. Default true. While it is false, pings wait, so that nothing that a
    /// `ReconnectingWebSocket` sends is acknowledged; they receive their pongs when it becomes true.
    public var repliesToPings: Bool {
        get { link.repliesToPings }
        set { link.repliesToPings = newValue }
    }

    /// The code and the reason with which the client closed the connection; nil until then.
    public var clientClosing: (code: WebSocketCloseCode, reason: String)? { link.clientClosing }

    fileprivate func run(_ script: @escaping @Sendable (MockWebSocket) async throws -> Void) {
        Task {
            do {
                try await script(self)
                close()
            } catch {
                lose(NetworkError(error))
            }
        }
    }

    /// The client's end.
    fileprivate var connection: any MessageConnection { link }

    /// A bounded queue of messages in one direction.
    private final class Pipe: Sendable {
        private let stream: AsyncThrowingStream<WebSocketMessage, any Error>
        private let continuation: AsyncThrowingStream<WebSocketMessage, any Error>.Continuation
        private static let limit = 1024

        init() {
            (stream, continuation) = AsyncThrowingStream.makeStream(bufferingPolicy: .bufferingOldest(Self.limit))
        }

        func add(_ message: WebSocketMessage) throws(NetworkError) {
            switch continuation.yield(message) {
            case .enqueued: return
            case .dropped:
                throw NetworkError(
                    .limitExceeded(.responseBody), detail: "\(Self.limit) messages wait for the other end of the mock.")
            default: throw NetworkError(.connectionLost(.requestNotSent), detail: "The connection is closed.")
            }
        }

        func finish(_ error: NetworkError?) {
            continuation.finish(throwing: error)
        }

        func next() async throws -> WebSocketMessage? {
            // Every iterator of the stream takes from the same queue.
            var iterator = stream.makeAsyncIterator()
            return try await iterator.next()
        }
    }

    private final class Link: MessageConnection {
        private struct State {
            var server: (code: WebSocketCloseCode, reason: String)?
            var client: (code: WebSocketCloseCode, reason: String)?
            var hasEnded = false
            var repliesToPings = true
            /// The pings that wait for their pongs. False is the end of the connection.
            var pings: [CheckedContinuation<Bool, Never>] = []

            mutating func takePings() -> [CheckedContinuation<Bool, Never>] {
                defer { pings = [] }
                return pings
            }
        }

        let subprotocol: String?
        private let output: Pipe
        private let input: Pipe
        private let state = Locked(State())

        init(subprotocol: String?, output: Pipe, input: Pipe) {
            (self.subprotocol, self.output, self.input) = (subprotocol, output, input)
        }

        var closing: (code: WebSocketCloseCode, reason: String)? { state.withLock { $0.server ?? $0.client } }
        var clientClosing: (code: WebSocketCloseCode, reason: String)? { state.withLock { $0.client } }

        func send(_ message: WebSocketMessage) async throws { try output.add(message) }
        func receive() async throws -> WebSocketMessage? { try await input.next() }

        func ping() async throws {
            let isHere = await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
                let result = state.withLock { state -> Bool? in
                    if state.hasEnded { return false }
                    if state.repliesToPings { return true }
                    state.pings.append(continuation)
                    return nil
                }
                if let result { continuation.resume(returning: result) }
            }
            guard isHere else {
                throw NetworkError(.connectionLost(.requestMayHaveArrived), detail: "The connection has ended.")
            }
        }

        var repliesToPings: Bool {
            get { state.withLock { $0.repliesToPings } }
            set {
                let pings = state.withLock { state in
                    state.repliesToPings = newValue
                    return newValue ? state.takePings() : []
                }
                for ping in pings { ping.resume(returning: true) }
            }
        }

        func endPings() {
            let pings = state.withLock { state in
                state.hasEnded = true
                return state.takePings()
            }
            for ping in pings { ping.resume(returning: false) }
        }

        func close(_ code: WebSocketCloseCode, reason: String) {
            state.withLock { state in
                if state.client == nil { state.client = (code, reason) }
            }
            endPings()
            output.finish(nil)
            input.finish(nil)
        }

        func closeByServer(_ code: WebSocketCloseCode, _ reason: String) {
            state.withLock { state in
                if state.client == nil, state.server == nil { state.server = (code, reason) }
            }
            endPings()
            input.finish(nil)
            output.finish(nil)
        }
    }
}

extension HTTPResponse {
    /// Returns a 101 response whose connection runs `script` as the server, without sockets. When the script returns,
    /// the connection is closed with 1000. When it throws, the connection is lost with that error. The client may send
    /// up to 1,024 messages that the script has not taken.
    public static func webSocket(
        subprotocol: String? = nil, _ script: @escaping @Sendable (MockWebSocket) async throws -> Void
    ) -> HTTPResponse {
        let socket = MockWebSocket(subprotocol: subprotocol)
        var response = HTTPResponse(status: .switchingProtocols)
        response.messageConnection = socket.connection
        socket.run(script)
        return response
    }
}
