// SPDX-License-Identifier: MIT

public import CurlewCore
public import CurlewFoundation
public import CurlewHTTP

/// An open WebSocket connection (RFC 6455): an asynchronous sequence of the server's messages, with methods that send.
///
///     let socket = try await client.webSocket(.get("/chat"))
///     try await socket.send("hello")
///     for try await message in socket { print(message) }
///
/// - Messages arrive in order, each complete. One task at a time reads; any number of tasks may send. The frames of two
///   messages are never interleaved.
/// - The client replies to the server's pings. With `Options.heartbeat`, it also detects a lost connection.
/// - Receiving pauses while `Options.incomingMessages` messages wait for the reader, and `send` waits while
///   `Options.outgoingBytes` bytes wait for the network.
/// - The sequence ends when the connection is closed with the codes 1000, 1001 or without a code. It throws
///   `NetworkError` if the connection is lost, if the server violates the protocol, and for other close codes.
/// - Cancelling a task that reads or sends ends only that wait. The connection is closed by `close`, and immediately
///   when the last reference to the socket and its iterators is released.
public final class WebSocket: AsyncSequence, Sendable {
    /// A message: text or binary.
    public typealias Message = WebSocketMessage
    /// The status code of a close frame.
    public typealias CloseCode = WebSocketCloseCode

    let core: WebSocketCore
    /// The subprotocol that the server has selected; nil if there is none.
    public let subprotocol: String?
    private let call: OpenResponse

    init(_ core: WebSocketCore, subprotocol: String?, _ call: OpenResponse) {
        self.core = core
        self.subprotocol = subprotocol
        core.begin(after: call.response)
        var call = call
        // The head must not keep the transport's parts alive.
        call.response.body = ResponseBody(Data())
        call.response.messageConnection = nil
        #if os(Linux)
        call.response.arrivalExecutor = nil
        #endif
        self.call = call
    }

    deinit {
        core.abandon()
    }

    /// The head of the 101 response, without a body.
    public var response: HTTPResponse { call.response }

    /// The close frame that ended the connection; nil while it is open, and if it was lost without one.
    public var closing: Closing? { core.closing }

    /// Sends a message. Returns when the message is in the outgoing buffer and the buffer has room for another one;
    /// this does not mean that the server has received it.
    ///
    /// Throws `.connectionLost` once the connection is closed or lost, and `.cancelled` if the task is cancelled while
    /// it waits for room; the message is sent nevertheless.
    public func send(_ message: Message) async throws(NetworkError) {
        try await core.send(message)
    }

    /// Sends a text message; see `send(_:)`.
    public func send(_ text: String) async throws(NetworkError) {
        try await core.send(.text(text))
    }

    /// Sends a binary message; see `send(_:)`.
    public func send(_ data: Data) async throws(NetworkError) {
        try await core.send(.binary(data))
    }

    /// Sends a value, encoded by the codec of the client, as a text message; see `send(_:)`. Throws `.encoding` if the
    /// value cannot be encoded.
    public func send(json value: some Encodable & Sendable) async throws(NetworkError) {
        try await core.send(call.context.codecs.message(value))
    }

    /// Returns the messages, each decoded as `type` by the codec of the client. A message that cannot be decoded throws
    /// `.decoding` with the message as the body of its response, and ends the sequence; the connection stays open.
    public func messages<Value: Decodable & Sendable>(as type: Value.Type) -> AsyncThrowingMapSequence<WebSocket, Value>
    {
        map { [call] message in try call.decode(type, from: message.bytes, as: "The message") }
    }

    /// Sends a ping and returns the time until its pong. Throws if the connection is lost first. At most 64 pings wait
    /// at a time; more throw `.invalidRequest`. Cancelling the task ends the wait.
    @discardableResult
    public func ping() async throws(NetworkError) -> Duration {
        try await core.ping()
    }

    /// Closes the connection: sends a close frame, and waits for the server's close frame, at most
    /// `Options.closeTimeout`. Messages that have not been read are dropped. Does nothing if the connection is closed.
    ///
    /// - `code`: the code. A code that a close frame must not contain (RFC 6455 §7.4) is replaced by `.normal`.
    /// - `reason`: the reason, truncated to 123 bytes of UTF-8.
    public func close(_ code: CloseCode = .normal, reason: String = "") async {
        await core.close(code.isValidOnWire ? code : .normal, reason: reason)
    }

    /// Creates an iterator over the messages. All iterators of a socket take from one queue.
    public func makeAsyncIterator() -> Iterator { Iterator(socket: self) }

    /// An iterator over the messages of a socket.
    public struct Iterator: AsyncIteratorProtocol {
        let socket: WebSocket

        /// Returns the next message; nil once the connection is closed. Throws if it is lost, and `.cancelled` if the
        /// task is cancelled.
        public mutating func next() async throws -> Message? {
            try await socket.core.incoming.next()
        }
    }
}

extension WebSocket {
    /// The settings of a WebSocket connection. Every limit has a default.
    public struct Options: Sendable {
        /// The subprotocols that the client offers, in order of preference (RFC 6455 §1.9). Default none.
        public var subprotocols: [String] = []
        /// The maximum size of a received message in bytes, after decompression. A larger message closes the connection
        /// with 1009. Default 16 MiB.
        public var maximumMessageSize = 16 << 20
        /// The maximum size of a received frame in bytes. Default 16 MiB. Transports that receive complete messages
        /// (`URLSessionTransport`, `MockTransport`) do not apply it.
        public var maximumFrameSize = 16 << 20
        /// The maximum number of received messages that wait for the reader. Default 64. Beyond it, or beyond
        /// `incomingBytes`, nothing more is received until the reader has taken a message.
        public var incomingMessages = 64
        /// The number of bytes of waiting messages at which receiving pauses. Default 1 MiB. One message may exceed it.
        public var incomingBytes = 1 << 20
        /// `send` waits while this number of bytes or more wait for the network. Default 64 KiB. Over
        /// `URLSessionTransport`, `send` waits until URLSession has taken the message.
        public var outgoingBytes = 64 << 10
        /// The time without a byte from the server after which the client sends a ping. Nil sends no pings. Default
        /// 30 s.
        public var heartbeat: Duration? = .seconds(30)
        /// The time after a ping of the heartbeat within which a frame must arrive. Otherwise the connection is lost:
        /// readers and writers throw `.timedOut(.idle)`. Default 10 s.
        public var heartbeatTimeout: Duration = .seconds(10)
        /// The time that `close` waits for the server's close frame. Default 5 s.
        public var closeTimeout: Duration = .seconds(5)
        /// The compression that the client offers (permessage-deflate, RFC 7692). Default nil: messages are not
        /// compressed. No effect over `URLSessionTransport`, because URLSession does not support it.
        public var compression: Compression?

        /// Creates the default options.
        public init() {}
    }

    /// The close frame of a connection.
    public struct Closing: Hashable, Sendable {
        /// The code of the close frame; 1005 if the frame had none.
        public let code: WebSocketCloseCode
        /// The reason of the close frame; often empty. The peer chooses the text.
        public let reason: String
        /// Whether the server began to close the connection.
        public let isByServer: Bool
    }

    /// The offer to compress messages with permessage-deflate, in which a message may refer to earlier ones. The server
    /// decides whether it compresses, and may choose smaller windows or messages that refer to no other.
    public struct Compression: Hashable, Sendable {
        /// Creates the offer.
        public init() {}
    }
}

extension Codecs {
    /// Returns a text message with the encoded value. Throws `.encoding`.
    func message(_ value: some Encodable & Sendable) throws(NetworkError) -> WebSocketMessage {
        do { return .text(String(decoding: try encode(value), as: UTF8.self)) } catch {
            // The description of an `EncodingError` contains the value.
            let cause = NetworkError(error).detail
            throw NetworkError(.encoding, detail: "The message could not be encoded. \(cause)", underlying: error)
        }
    }
}

extension WebSocketMessage {
    var bytes: Data {
        switch self {
        case .text(let text): Data(text.utf8)
        case .binary(let data): data
        }
    }
}
