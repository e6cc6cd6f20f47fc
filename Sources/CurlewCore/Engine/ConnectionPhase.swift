// SPDX-License-Identifier: MIT

/// How far a request is on its way to a connection, reported while it happens (`ExchangeEvent.connecting`).
///
/// The order for a new connection: `trying` once for each address that is tried, `opened`, with TLS `secured`, and `ready`.
/// On a connection that is there already, or that another exchange opens at the same moment, `ready` is all there is.
/// Where the engine has to send again, it begins anew. An attempt that fails stops where it has come to.
///
/// `CurlTransport` tells them; URLSession does not know before the end, and `ExchangeMetrics` has its times then.
@nonexhaustive
public enum ConnectionPhase: Hashable, Sendable {
    /// The engine asks the system for the addresses of the host, or of its proxy. Not reported where it has them.
    case lookingUp(name: String)
    /// The host, or its proxy, has addresses, and the engine connects to this one: `192.0.2.1:443`. It may try the next one
    /// before this one has failed (RFC 8305). A Unix domain socket has its path here.
    case trying(address: String)
    /// The connection is open. With TLS the handshake begins, behind the tunnel of a proxy if there is one; without TLS it
    /// is reported together with `ready`.
    case opened
    /// The TLS handshake with the server is done, and its certificate is accepted.
    case secured(ConnectionInfo.TLS)
    /// The request is about to leave on this connection.
    case ready(ConnectionInfo)
}

extension ConnectionPhase: CustomStringConvertible {
    /// A few words for a log.
    public var description: String {
        switch self {
        case .lookingUp(let name): "looking up \(name)"
        case .trying(let address): "trying \(address)"
        case .opened: "opened"
        case .secured(let tls): "secured by \(tls)"
        case .ready(let connection): "ready on \(connection)"
        }
    }
}
