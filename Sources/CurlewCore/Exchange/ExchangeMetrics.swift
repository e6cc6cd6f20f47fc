// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// What an exchange cost: time by phase, bytes on the wire, and what was reused.
///
/// Phases that did not happen (a reused connection needs no lookup) are zero; what an engine cannot tell is nil.
/// Times are measured by the transport from the moment it was given the request.
public struct ExchangeMetrics: Hashable, Sendable {
    /// Waiting to begin: for a rate or concurrency limit, and for the engine.
    public var queue: Duration?
    /// Finding addresses for the host name.
    public var nameLookup: Duration?
    /// Establishing the TCP connection.
    public var connect: Duration?
    /// The TLS handshake.
    public var secureConnect: Duration?
    /// From the request being ready to send until the first byte of the answer.
    public var firstByte: Duration?
    /// From the first to the last byte of the answer.
    public var transfer: Duration?
    /// From beginning to end.
    public var total: Duration?
    /// Bytes of the request head and body as sent.
    public var bytesSent: Int64?
    /// Bytes of the response head and body as received, before decoding.
    public var bytesReceived: Int64?
    /// True when the exchange went over a connection that existed before.
    public var reusedConnection: Bool?
    /// Connections the engine opened for this exchange; more than one when it had to send again.
    public var connectionsOpened: Int?
    /// The version of HTTP that was spoken. URLSession tells it when the exchange is over: for a body that is read as it
    /// comes, `HTTPResponse.version` says 1.1 on Apple platforms, and the metrics of `.measured` have the true one. On
    /// Linux URLSession never tells.
    public var version: HTTPVersion?
    /// The address and port of the peer.
    public var remoteAddress: String?
    /// The connection that the exchange went over: its number, this end's address, and what TLS agreed on. Nil when there
    /// was none, and where the transport does not tell: URLSession on Linux never does, on Apple platforms with `.measured`.
    public var connection: ConnectionInfo?

    /// Metrics about which nothing is known.
    public init() {}
}
