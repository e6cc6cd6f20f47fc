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
/// - Receiving pauses while `Options.incomingMessages` messages or `Options.incomingBytes` bytes wait for the reader,
///   and `send` waits while `Options.outgoingBytes` bytes wait for the network.
/// - The sequence ends when the client closes the connection, and when the server does, with the codes 1000, 1001 or
///   none. For other codes, lost connections and violations of the protocol by the server, it throws `NetworkError`.
/// - Cancelling a task that reads or sends ends only that wait. The last release of the socket and its iterators closes
///   the connection in the background, with 1001.
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

    /// The server's close frame; nil until it arrives, and if the connection ended without it.
    public var closing: Closing? { core.closing }

    /// Sends a message. Returns when the message is in the outgoing buffer and the buffer has room for another one;
    /// this does not mean that the server has received it.
    ///
    /// Throws the error that ended the connection, or `.connectionLost` if it was closed without an error. Throws
    /// `.cancelled` if the task is cancelled while it waits for room; the message is sent nevertheless.
    public func send(_ message: Message) async throws(NetworkError) {
        try await core.send(message)
    }

    /// Sends a text message, with the guarantees and errors of `send(_:)` for a `Message`.
    public func send(_ text: String) async throws(NetworkError) {
        try await core.send(.text(text))
    }

    /// Sends a binary message, with the guarantees and errors of `send(_:)` for a `Message`.
    public func send(_ data: Data) async throws(NetworkError) {
        try await core.send(.binary(data))
    }

    /// Sends a value as a text message, encoded with the client's default codec (`Codecs.primary`); see `send(_:)`.
    /// Throws `.encoding` if the value cannot be encoded.
    public func send(json value: some Encodable & Sendable) async throws(NetworkError) {
        try await core.send(call.context.codecs.message(value))
    }

    /// Returns the messages, decoded as `type` with the client's default codec (`Codecs.primary`). One that cannot be
    /// decoded ends the sequence with `.decoding` and is the body of the error's response; the connection stays open.
    public func messages<Value: Decodable & Sendable>(as type: Value.Type) -> AsyncThrowingMapSequence<WebSocket, Value>
    {
        map { [call] message in try call.decode(type, from: message.bytes, as: "The message") }
    }

    /// Sends a ping and returns the time until its pong. Throws as `send(_:)` does if the connection ends first, and
    /// `.invalidRequest` if 64 pings already wait. Cancelling the task ends the wait with `.cancelled`.
    @discardableResult
    public func ping() async throws(NetworkError) -> Duration {
        try await core.ping()
    }

    /// Closes the connection: sends a close frame and waits until the server closes it, at most `Options.closeTimeout`.
    /// Drops unread messages. Cancelling the task ends the connection at once. Does nothing after the end.
    ///
    /// - `code`: the code. A code that a close frame must not contain (RFC 6455 §7.4) is replaced by `.normal`.
    /// - `reason`: the reason, truncated to 123 bytes of UTF-8.
    public func close(_ code: CloseCode = .normal, reason: String = "") async {
        await core.close(code.isValidOnWire ? code : .normal, reason: reason)
    }

    /// Creates an iterator over the messages. All iterators of a socket take from one queue: each message arrives once.
    public func makeAsyncIterator() -> Iterator { Iterator(socket: self) }

    /// An iterator over the messages of a socket.
    public struct Iterator: AsyncIteratorProtocol {
        let socket: WebSocket

        /// Returns the next message; nil once the connection is closed. If an error ended the connection, throws that
        /// `NetworkError` at each call. Throws `.cancelled` if the task is cancelled.
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
        /// with 1009, and the reader throws `.limitExceeded(.responseBody)`. Default 16 MiB.
        public var maximumMessageSize = 16 << 20
        /// The maximum size of a received frame in bytes, with the effect of `maximumMessageSize`. Default 16 MiB.
        /// Transports that receive complete messages (`URLSessionTransport`, `MockTransport`) do not apply this limit.
        public var maximumFrameSize = 16 << 20
        /// The number of messages waiting for the reader at which receiving pauses; less than 1 counts as 1. Messages
        /// that arrive together, at most 64, may exceed it. Default 64.
        public var incomingMessages = 64
        /// The number of bytes of waiting messages at which receiving pauses; less than 1 counts as 1. Messages that
        /// arrive together may exceed it. Default 1 MiB.
        public var incomingBytes = 1 << 20
        /// `send` waits while this number of bytes or more wait for the network. Default 64 KiB. Over
        /// `URLSessionTransport`, `send` waits until URLSession has taken the message.
        public var outgoingBytes = 64 << 10
        /// The time without a byte from the server after which the client sends a ping. Nil or zero sends no pings.
        /// Default 30 s.
        public var heartbeat: Duration? = .seconds(30)
        /// The time after a ping of the heartbeat within which a byte must arrive. Otherwise the connection is lost:
        /// readers and writers throw `.timedOut(.idle)`. Default 10 s.
        public var heartbeatTimeout: Duration = .seconds(10)
        /// The maximum time from the first close frame to the end of the connection. Default 5 s.
        public var closeTimeout: Duration = .seconds(5)
        /// The compression that the client offers (permessage-deflate, RFC 7692). Default nil: messages are not
        /// compressed. No effect over `URLSessionTransport`, because URLSession does not support it.
        public var compression: Compression?

        /// Creates the default options.
        public init() {}
    }

    /// The close frame that the server sent.
    public struct Closing: Hashable, Sendable {
        /// The code of the close frame; 1005 if the frame had none.
        public let code: WebSocketCloseCode
        /// The reason of the close frame; often empty. The server chooses the text.
        public let reason: String
        /// Whether the server began to close the connection. If false, the frame replies to that of the client.
        public let isByServer: Bool
    }

    /// The offer to compress messages with permessage-deflate and context takeover (RFC 7692). The server decides
    /// whether messages are compressed, and may select smaller windows or no context takeover.
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
