// SPDX-License-Identifier: MIT

public import CurlewCore
public import CurlewFoundation
public import CurlewHTTP

extension ReconnectingWebSocket {
    /// The settings of a WebSocket that connects again. Every limit has a default.
    public struct Options: Sendable {
        /// The settings of each connection.
        public var socket = WebSocket.Options()

        /// The number of messages, waiting or not acknowledged, at which `send` waits. Default 256.
        public var outgoingMessages = 256
        /// The number of bytes of these messages at which `send` waits. One message may exceed it. Default 1 MiB.
        public var outgoingBytes = 1 << 20
        /// Whether messages wait while there is no connection. If false, `send` throws `.connectionLost(.requestNotSent)`
        /// until the state is `open`, and messages that wait when a connection is lost are handed back. Default true.
        public var queuesWhileDisconnected = true

        /// What acknowledges a sent message. Default `.pong`.
        public var acknowledgement = Acknowledgement.pong
        /// The minimum time between two pings that follow sent messages. Half full limits of outgoing messages shorten
        /// it. Default 1 s.
        public var pingInterval: Duration = .seconds(1)
        /// Whether a message that was not acknowledged is sent again on the next connection, before those that wait. The
        /// server may then receive it twice. Default false for all messages.
        public var resends: @Sendable (WebSocketMessage) -> Bool = { _ in false }

        /// Whether to connect again. Default `Loss.isTransient`. Called for each failure, the first one included, apart
        /// from `restart`. Its `Loss.unacknowledged` has the messages that are sent again too.
        public var reconnects: @Sendable (Loss) -> Bool = { $0.isTransient }
        /// The upper bound of the random wait after the first failure; it doubles with each consecutive failure. Default
        /// 1 s.
        public var retryDelay: Duration = .seconds(1)
        /// The maximum of that bound. A wait that the server requests with `Retry-After` may be longer, up to one day.
        /// Default 60 s.
        public var maximumDelay: Duration = .seconds(60)
        /// The time after which an open connection is stable: its loss is the first failure again. Default 10 s.
        public var stableAfter: Duration = .seconds(10)
        /// The number of consecutive failures after which the socket is closed with the last error. Nil sets no limit.
        /// Default nil.
        public var maximumFailures: Int?
        /// The time without an open connection after which the socket is closed with the last error, waits included. It
        /// does not end an attempt that runs. Nil sets no limit. Default nil.
        public var maximumOutage: Duration?
        /// The time limit of the hook that runs on each new connection. Default 30 s.
        public var hookTimeout: Duration = .seconds(30)

        /// Creates the default options.
        public init() {}
    }

    /// What acknowledges a sent message. WebSocket itself acknowledges no messages (RFC 6455).
    @nonexhaustive
    public enum Acknowledgement: Hashable, Sendable {
        /// The pong to a ping that was sent after the message. A connection keeps the order, so the endpoint that sent
        /// the pong has received the message before. That endpoint may be a proxy, and the pong does not prove that an
        /// application has processed the message.
        case pong
        /// The caller, by `acknowledge(where:)`, for servers that confirm messages themselves.
        case caller
    }

    /// The state of the connection.
    @nonexhaustive
    public enum State: Hashable, Sendable {
        /// A connection is being opened, or the hook runs on it.
        case connecting
        /// Messages are sent and received.
        case open
        /// The socket connects again at this time of the client's clock. The error is the reason why the last connection
        /// failed; nil if the server closed it with a code that is no error.
        case waiting(until: Date, after: NetworkError?)
        /// The socket is closed. The error is the reason; nil if the caller or the server closed it.
        case closed(NetworkError?)
    }

    /// The loss of a connection, or the failure to open one.
    public struct Loss: Sendable {
        /// Why the connection failed; nil if the server closed it with 1000, 1001 or without a code, and if the caller
        /// closed it.
        public internal(set) var error: NetworkError?
        /// How the connection was closed; nil if it was not open, and if it was lost without a close frame.
        public internal(set) var closing: WebSocket.Closing?
        /// The number of consecutive failures, this one included.
        public internal(set) var failures = 0
        /// The messages that were sent and not acknowledged, in order. The server may have received them. Not included
        /// are messages that are sent again (`Options.resends`).
        public internal(set) var unacknowledged: [WebSocketMessage] = []
        /// The messages that were never sent, in order, and will not be: the rest at the end of the socket, and with
        /// `Options.queuesWhileDisconnected` false.
        public internal(set) var unsent: [WebSocketMessage] = []
        /// Whether the socket does not connect again.
        public internal(set) var isFinal = false
        /// Whether the hook threw the error.
        var isOfHook = false

        /// Whether another connection may succeed:
        ///
        /// - The server closed the connection: only with the codes 1001 (going away), 1011 (internal error),
        ///   1012 (service restart), 1013 (try again later) and 1014 (bad gateway). With other codes, the server would
        ///   close the next connection too, or is finished (1000, no code); the codes from 3000 on are the
        ///   application's.
        /// - The hook failed: always.
        /// - The connection was lost or could not be opened: if `NetworkError.isRetryable` is true, or the status is
        ///   5xx. A lost network and the statuses 408, 429 and 503 are transient; 401, 403, 404, failures of TLS and
        ///   violations of the protocol are not.
        public var isTransient: Bool {
            if let closing, closing.isByServer {
                return closing.code == .goingAway || (1011...1014).contains(closing.code.rawValue)
            }
            return isOfHook || error?.allowsReconnection ?? false
        }
    }
}
