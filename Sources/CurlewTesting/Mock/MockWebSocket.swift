// SPDX-License-Identifier: MIT

public import CurlewCore
public import CurlewFoundation
public import CurlewHTTP

/// The server's end of a WebSocket connection (RFC 6455), for scripts of `MockServer` and `MockTransport`.
///
///     let script: @Sendable (MockWebSocket) async throws -> Void = { peer in
///         while let message = try await peer.next() { try peer.send(message) }      // an echo
///     }
///     server.on(.get, "/chat") { _ in .webSocket(script) }      // over a socket
///     mock.on(.get, "/chat") { _ in .webSocket(script) }        // without sockets
///
/// Functions that send do not wait, and throw `.connectionLost` once the connection has been closed or lost. `flush()`
/// waits for the client. What concerns frames and bytes needs a `MockServer`: over `MockTransport`, which carries
/// messages, it has no effect or throws `.configuration`, as documented.
public final class MockWebSocket: Sendable {
    private let link: any MockSocketLink

    init(_ link: any MockSocketLink) {
        self.link = link
    }

    /// The subprotocol of the connection; nil if none was selected.
    public var subprotocol: String? { link.subprotocol }

    // MARK: Messages

    /// Returns the next message from the client; nil once the connection has been closed or lost. One task at a time.
    /// Throws `NetworkError` with the reason `.cancelled` if the task is cancelled.
    ///
    /// A `MockServer` reads from the socket while fewer than 64 messages and less than 1 MiB wait for the script.
    public func next() async throws -> WebSocketMessage? {
        try await link.next()
    }

    /// Sends a message. Throws `.limitExceeded` if 64 MiB, or over `MockTransport` 1,024 messages, wait for the client.
    ///
    /// - `frameSize`: the maximum payload of a frame in bytes, to send the message in fragments (RFC 6455 §5.4). Nil,
    ///   the default, sends one frame. No effect over `MockTransport`.
    public func send(_ message: WebSocketMessage, frameSize: Int? = nil) throws(NetworkError) {
        try link.send(message, frameSize: frameSize)
    }

    /// Sends a text message to the client; see `send(_:frameSize:)`.
    public func send(_ text: String) throws(NetworkError) {
        try link.send(.text(text), frameSize: nil)
    }

    /// Sends a binary message to the client; see `send(_:frameSize:)`.
    public func send(_ data: Data) throws(NetworkError) {
        try link.send(.binary(data), frameSize: nil)
    }

    /// Waits until the system, or over `MockTransport` the client, has taken everything that was sent. Throws
    /// `.connectionLost` if the client ends the connection, and `.cancelled` if the task is cancelled.
    public func flush() async throws(NetworkError) {
        try await link.flush()
    }

    // MARK: The end

    /// Closes the connection with this code and reason. The client receives the messages sent before. A `MockServer`
    /// shortens the reason to 123 bytes, and waits up to five seconds for the client's close frame. A code that a close
    /// frame must not contain, such as 1005, is omitted. Later messages of the client are dropped.
    public func close(_ code: WebSocketCloseCode = .normal, reason: String = "") {
        link.close(code, reason: reason)
    }

    /// Ends the connection without a close frame, as when the network fails. Over `MockTransport` the client throws
    /// `error`; a `MockServer` resets the connection.
    public func lose(
        _ error: NetworkError = NetworkError(
            .connectionLost(.requestMayHaveArrived), detail: "The mock has lost the connection.")
    ) {
        link.lose(error, by: .reset)
    }

    /// Ends the connection by `interruption`, without a close frame, after everything that was sent before. Over
    /// `MockTransport` the client throws `.connectionLost`, or waits forever if the interruption is `.stall`.
    public func lose(by interruption: MockResponse.Interruption) {
        let detail = "The mock has lost the connection."
        link.lose(NetworkError(.connectionLost(.requestMayHaveArrived), detail: detail), by: interruption)
    }

    /// The code and the reason with which the client closed the connection, or replied to the close frame of the
    /// server; nil until then.
    public var clientClosing: (code: WebSocketCloseCode, reason: String)? { link.clientClosing }

    /// Whether pings of the client receive pongs. Default true, or that of ``MockResponse/SocketOptions``. While it is
    /// false, the last 64 pings wait; they receive their pongs when it becomes true.
    public var repliesToPings: Bool {
        get { link.repliesToPings }
        set { link.repliesToPings = newValue }
    }

    // MARK: Frames

    /// Sends a ping with the first 125 bytes of `payload`. The pong is in ``frames``. No effect over `MockTransport`.
    public func ping(_ payload: Data = Data()) throws(NetworkError) {
        try link.control(.ping, payload)
    }

    /// Sends a pong with the first 125 bytes of `payload`. No effect over `MockTransport`.
    public func pong(_ payload: Data = Data()) throws(NetworkError) {
        try link.control(.pong, payload)
    }

    /// Sends these bytes as they are, such as a frame that violates the protocol. Throws `.configuration` over
    /// `MockTransport`.
    public func sendRaw(_ bytes: Data) throws(NetworkError) {
        try link.sendRaw(bytes)
    }

    /// Stops reading from the socket until ``resumeReading()``, like a slow server. No effect over `MockTransport`.
    public func pauseReading() {
        link.setReading(false)
    }

    /// Continues to read from the socket.
    public func resumeReading() {
        link.setReading(true)
    }

    /// The last 1,000 frames from the client, oldest first. Empty over `MockTransport`.
    public var frames: [Frame] { link.frames }

    /// The rule of RFC 6455 that the client has violated; nil if there is none. A `MockServer` closes the connection
    /// then, with the code that the rule requires.
    public var violation: String? { link.violation }

    /// The head of a frame that the client sent, with its first bytes.
    public struct Frame: Hashable, Sendable {
        /// The opcode.
        public let kind: Kind
        /// Whether the frame is the last one of its message.
        public let isFinal: Bool
        /// Whether the frame begins a compressed message (RFC 7692).
        public let isCompressed: Bool
        /// Whether the payload was masked, as each frame of a client must be.
        public let isMasked: Bool
        /// The number of bytes of the payload.
        public let size: Int
        /// The first 125 bytes of the payload, unmasked: all of a control frame.
        public let prefix: Data
    }

    /// The opcode of a frame (RFC 6455 §11.8).
    @nonexhaustive
    public enum Kind: Hashable, Sendable {
        /// A further frame of a message.
        case continuation
        /// The first or only frame of a text message.
        case text
        /// The first or only frame of a binary message.
        case binary
        /// A close frame.
        case close
        /// A ping.
        case ping
        /// A pong.
        case pong
    }
}

package struct MockSocketScript: Sendable {
    let options: MockResponse.SocketOptions
    private let body: @Sendable (MockWebSocket) async throws -> Void

    init(_ options: MockResponse.SocketOptions, _ body: @escaping @Sendable (MockWebSocket) async throws -> Void) {
        self.options = options
        self.body = body
    }

    /// Runs the script in a new task. Closes the connection when the script returns, and loses it when it throws.
    func start(on link: any MockSocketLink) -> Task<Void, Never> {
        ScriptTask.start { [body] in
            do {
                try await body(MockWebSocket(link))
                link.close(.normal, reason: "")
            } catch {
                link.lose(NetworkError(error), by: .reset)
            }
        }
    }
}

/// The link that carries the messages of a mock's connection.
protocol MockSocketLink: AnyObject, Sendable {
    var subprotocol: String? { get }
    var clientClosing: (code: WebSocketCloseCode, reason: String)? { get }
    var frames: [MockWebSocket.Frame] { get }
    var violation: String? { get }
    var repliesToPings: Bool { get set }
    func next() async throws -> WebSocketMessage?
    func send(_ message: WebSocketMessage, frameSize: Int?) throws(NetworkError)
    func flush() async throws(NetworkError)
    func control(_ kind: MockWebSocket.Kind, _ payload: Data) throws(NetworkError)
    func sendRaw(_ bytes: Data) throws(NetworkError)
    func setReading(_ isReading: Bool)
    func close(_ code: WebSocketCloseCode, reason: String)
    func lose(_ error: NetworkError, by interruption: MockResponse.Interruption)
}
