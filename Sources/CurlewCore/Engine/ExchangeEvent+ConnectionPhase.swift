// SPDX-License-Identifier: MIT

extension ExchangeEvent {
    /// A phase of obtaining a connection for a request, reported as it happens (`ExchangeEvent.connecting`).
    ///
    /// For a new connection the order is `resolving` (unless the addresses are cached), `trying` once per address,
    /// `opened`, `secured` if the connection uses TLS, and `ready`. For an existing connection, or one that another
    /// exchange is opening, only `ready` is reported. The phases start again when the transport has to send the request
    /// again. A failed attempt ends after the last phase that it reached.
    ///
    /// `CurlTransport` reports the phases. URLSession provides their times only at the end, in `ExchangeMetrics`.
    @nonexhaustive
    public enum ConnectionPhase: Hashable, Sendable {
        /// The transport starts to resolve the name of the host, or of its proxy. Not reported if the addresses are
        /// cached.
        case resolving(name: String)
        /// The transport starts to connect to this address of the host, or of its proxy: `192.0.2.1:443`. It may try
        /// the next address before this one has failed (RFC 8305). The address of a Unix domain socket is its path.
        case trying(address: String)
        /// The connection is open. With TLS, the handshake begins, through the tunnel of a proxy if there is one.
        /// Without TLS, this phase is reported together with `ready`.
        case opened
        /// The TLS handshake with the server is complete, and its certificate is accepted.
        case secured(ExchangeMetrics.Connection.TLS)
        /// The request is about to be sent on this connection.
        case ready(ExchangeMetrics.Connection)
    }
}

extension ExchangeEvent.ConnectionPhase: CustomStringConvertible {
    /// A short text for logs, such as `trying 192.0.2.1:443`.
    public var description: String {
        switch self {
        case .resolving(let name): "looking up \(name)"
        case .trying(let address): "trying \(address)"
        case .opened: "opened"
        case .secured(let tls): "secured by \(tls)"
        case .ready(let connection): "ready on \(connection)"
        }
    }
}
