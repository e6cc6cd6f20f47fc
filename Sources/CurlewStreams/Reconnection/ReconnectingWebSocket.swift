// SPDX-License-Identifier: MIT

public import CurlewCore
public import CurlewFoundation
public import CurlewHTTP

extension APIClient {
    /// Returns a WebSocket that connects at once, and again when its connection is lost.
    ///
    /// Each connection is opened as `webSocket(_:options:)` does it, with the interceptors of the client, so that
    /// credentials are current.
    ///
    /// - `onOpen`: runs on each new connection before anything else is sent, to subscribe again. It may also receive
    ///   messages; those do not appear in the sequence. An error that it throws is a failed attempt. It must return when
    ///   its task is cancelled.
    /// - `onLoss`: is called each time that a connection is lost or cannot be opened, before the next attempt, and with
    ///   `Loss.isFinal` exactly once at the end. It is called on a background task, and must return soon.
    public func reconnectingWebSocket(
        _ route: some Route, options: ReconnectingWebSocket.Options = ReconnectingWebSocket.Options(),
        onOpen: @escaping @Sendable (WebSocket) async throws -> Void = { _ in },
        onLoss: @escaping @Sendable (ReconnectingWebSocket.Loss) -> Void = { _ in }
    ) -> ReconnectingWebSocket {
        let core = ReconnectingWebSocketCore(
            options, time: configuration.time, onOpen: onOpen, onLoss: onLoss
        ) { () async throws(NetworkError) in
            try await webSocket(route, options: options.socket)
        }
        return ReconnectingWebSocket(core, codecs: configuration.codecs)
    }

    /// Returns a WebSocket that connects again: `client.reconnectingWebSocket(.get("/prices")) { … }`.
    public func reconnectingWebSocket(
        _ request: Request<Void>, options: ReconnectingWebSocket.Options = ReconnectingWebSocket.Options(),
        onOpen: @escaping @Sendable (WebSocket) async throws -> Void = { _ in },
        onLoss: @escaping @Sendable (ReconnectingWebSocket.Loss) -> Void = { _ in }
    ) -> ReconnectingWebSocket {
        let core = ReconnectingWebSocketCore(
            options, time: configuration.time, onOpen: onOpen, onLoss: onLoss
        ) { () async throws(NetworkError) in
            try await webSocket(request, options: options.socket)
        }
        return ReconnectingWebSocket(core, codecs: configuration.codecs)
    }
}

/// A WebSocket that connects again when its connection is lost: a sequence of the messages of all connections, and a
/// function to send some.
///
///     let prices = client.reconnectingWebSocket(.get("/prices")) { socket in
///         try await socket.send("subscribe")                     // on each new connection
///     } onLoss: { loss in
///         print("lost, perhaps without", loss.unacknowledged)
///     }
///     for try await message in prices { print(message) }
///
/// - Messages are sent in the order of `send`, after the hook of the connection has returned. While there is no
///   connection, they wait, with the limits of `Options`.
/// - Every message that `send` has accepted is acknowledged, still waits, or is handed back in a `Loss`. A message is
///   sent twice only with `Options.resends`.
/// - After a failure, the wait is random, with an upper bound that doubles with each consecutive failure. It is never
///   shorter than the server requests with `Retry-After`, up to one day.
/// - `Loss.isTransient` documents which failures are followed by another attempt; `Options.reconnects` changes it.
/// - The sequence ends when the caller closes the socket, or the server with the codes 1000 or without a code. It throws
///   the error of a failure that is not followed by another attempt. Messages that arrived before are returned first.
/// - One task at a time reads; any number of tasks may send. Receiving pauses while the reader does not take messages,
///   as in `WebSocket`. While messages of two lost connections are unread, the socket does not connect again.
/// - Cancelling a task that reads or sends ends only that wait. The socket is closed by `close`, and when the last
///   reference to it and its iterators is released.
public final class ReconnectingWebSocket: AsyncSequence, Sendable {
    /// A message.
    public typealias Element = WebSocketMessage
    /// A message: text or binary.
    public typealias Message = WebSocketMessage

    let core: ReconnectingWebSocketCore
    private let codecs: Codecs

    init(_ core: ReconnectingWebSocketCore, codecs: Codecs) {
        self.core = core
        self.codecs = codecs
        core.begin()
    }

    deinit {
        core.abandon()
    }

    /// The current state.
    public var state: State { core.control.state }

    /// The current state and the changes of it, in order. A slow reader misses states before the last 16. The sequence
    /// ends when the socket is closed and released.
    public var states: AsyncStream<State> { core.control.states() }

    /// Sends a message. Returns when the message waits to be sent; this does not mean that the server has received it.
    ///
    /// Waits while `Options.outgoingMessages` messages or `Options.outgoingBytes` bytes are not acknowledged. Throws
    /// `.cancelled` if the task is cancelled while it waits. Once the socket is closed, throws the error with which it was
    /// closed, or `.connectionLost(.requestNotSent)`. After an error, the message is neither sent nor handed back.
    public func send(_ message: Message) async throws(NetworkError) {
        try await core.outgoing.add(message)
    }

    /// Sends a text message; see `send(_:)`.
    public func send(_ text: String) async throws(NetworkError) {
        try await send(.text(text))
    }

    /// Sends a binary message; see `send(_:)`.
    public func send(_ data: Data) async throws(NetworkError) {
        try await send(.binary(data))
    }

    /// Sends a value, encoded by the codec of the client, as a text message; see `send(_:)`. Throws `.encoding` if the
    /// value cannot be encoded.
    public func send(json value: some Encodable & Sendable) async throws(NetworkError) {
        try await send(codecs.message(value))
    }

    /// Returns the messages, each decoded as `type` by the codec of the client. A message that cannot be decoded throws
    /// `.decoding` and ends the sequence; the socket stays open.
    public func messages<Value: Decodable & Sendable>(
        as type: Value.Type
    ) -> AsyncThrowingMapSequence<ReconnectingWebSocket, Value> {
        map { [codecs] message in try codecs.value(type, in: message) }
    }

    /// Acknowledges the sent messages that satisfy the condition, so that they are not handed back and `send` has room
    /// for others. Needed only with `Acknowledgement.caller`. Calls the condition for each message that may have
    /// arrived, in order.
    public func acknowledge(where isAcknowledged: (Message) -> Bool) {
        core.outgoing.acknowledge(where: isAcknowledged)
    }

    /// Ends the connection and connects again at once, without a wait. Messages that have already arrived are not lost.
    /// Use it when the network has changed. Without effect if the socket is closed.
    public func restart() {
        core.control.restart()
    }

    /// Closes the socket. Further messages are refused. If a connection is open, waits until the other messages were
    /// sent and acknowledged, then for the server's close frame, each for at most `WebSocket.Options.closeTimeout`.
    /// Otherwise nothing is sent any more, and an attempt to connect is cancelled. Returns after `onLoss` has received
    /// the rest. Messages that have not been read are dropped.
    ///
    /// If the task is cancelled, the connection is closed without these waits.
    ///
    /// - `code`: the code. A code that must not be sent (`WebSocketCloseCode.isValidOnWire`) is replaced by `.normal`.
    /// - `reason`: the reason, truncated to 123 bytes of UTF-8.
    public func close(_ code: WebSocketCloseCode = .normal, reason: String = "") async {
        await core.close(code.isValidOnWire ? code : .normal, reason: reason)
    }

    /// Creates an iterator over the messages. All iterators of a socket take from one queue.
    public func makeAsyncIterator() -> Iterator { Iterator(socket: self) }

    /// An iterator over the messages of a socket.
    public struct Iterator: AsyncIteratorProtocol {
        let socket: ReconnectingWebSocket

        /// Returns the next message; nil once the socket is closed. Throws the error with which it was closed, and
        /// `.cancelled` if the task is cancelled.
        public mutating func next() async throws -> Message? {
            try await socket.core.incoming.next()
        }
    }
}
