// SPDX-License-Identifier: MIT

public import CurlewHTTP

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
        /// The number of bytes that wait to be sent at which `send` waits. Default 64 KiB. Over `URLSessionTransport`,
        /// `send` waits until URLSession has taken the message.
        public var outgoingBytes = 64 << 10
        /// The time without a byte from the server after which the client sends a ping. Nil sends no pings. Default
        /// 30 s.
        public var heartbeat: Duration? = .seconds(30)
        /// The timeout for any frame after a ping of the heartbeat. If nothing does, the connection is lost: readers
        /// and writers throw `.timedOut(.idle)`. Default 10 s.
        public var heartbeatTimeout: Duration = .seconds(10)
        /// The time that `close` waits for the server's close frame. Default 5 s.
        public var closeTimeout: Duration = .seconds(5)
        /// The compression that the client offers (permessage-deflate, RFC 7692). Default nil: messages are not
        /// compressed. No effect over `URLSessionTransport`, because URLSession cannot be asked for it.
        public var compression: Compression?

        /// Creates the default options.
        public init() {}
    }

    /// The close frame of a connection.
    public struct Closing: Hashable, Sendable {
        /// The code of the close frame. `.noStatus` if the frame had none.
        public let code: WebSocketCloseCode
        /// The reason of the close frame; often empty. The peer chooses the text.
        public let reason: String
        /// Whether the server began to close the connection.
        public let isByServer: Bool
    }
}
