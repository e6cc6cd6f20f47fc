// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// Measurements of an exchange: time per phase, bytes on the wire, and connection reuse.
///
/// Each time is the duration of one phase, except `total`. Phases that did not occur are zero, such as the lookup for a
/// reused connection. For an exchange that failed, the last phase lasted until the failure. Values that a transport
/// cannot determine are nil.
public struct ExchangeMetrics: Hashable, Sendable {
    /// The time before the exchange began, spent in the queues of rate limits, concurrency limits and the transport.
    public var queue: Duration?
    /// The time to resolve the host name.
    public var nameLookup: Duration?
    /// The time to establish the TCP connection.
    public var connect: Duration?
    /// The time of the TLS handshake.
    public var secureConnect: Duration?
    /// The time from when the request was ready to send until the first byte of the response or, if none arrived, the
    /// end of the exchange.
    public var firstByte: Duration?
    /// The time from the first to the last byte of the response.
    public var transfer: Duration?
    /// The time from the start of the wait in queues until the end of the exchange: `queue` and all phases.
    public var total: Duration?
    /// The number of bytes of the request head and body, as sent.
    public var bytesSent: Int64?
    /// The number of bytes of the response head and body, as received, before decoding.
    public var bytesReceived: Int64?
    /// Whether the exchange used an existing connection.
    public var reusedConnection: Bool?
    /// The number of connections that the transport opened for this exchange; more than one when it had to send the
    /// request again.
    public var connectionsOpened: Int?
    /// The HTTP version of the exchange. URLSession on Apple platforms reports it only when the exchange has ended: for
    /// a streamed body, `HTTPResponse.version` is therefore 1.1, and the metrics of `.measured` have the actual
    /// version. URLSession on Linux never reports it.
    public var version: HTTPVersion?
    /// The IP address and port to which the connection was made, such as `192.0.2.1:443`.
    public var remoteAddress: String?
    /// The connection that the exchange used: its number, its local address, and its TLS parameters. Nil if there was
    /// no connection. URLSession on Apple platforms reports it only in the metrics of `.measured`, and URLSession on
    /// Linux never reports it.
    public var connection: ExchangeMetrics.Connection?

    /// Creates empty metrics.
    public init() {}

    /// Adds the time that the request waited in queues of the pipeline, which a transport does not measure.
    mutating func add(queued: Duration) {
        queue = (queue ?? .zero) + queued
        total = total.map { $0 + queued }
    }
}
