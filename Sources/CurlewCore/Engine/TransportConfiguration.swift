// SPDX-License-Identifier: MIT

/// How a transport connects. The same value serves every engine.
public struct TransportConfiguration: Hashable, Sendable {
    /// Trust and versions for secure connections.
    public var tls: TLSConfiguration
    /// Through which proxy it connects. Default `.none`, which does not look at the environment.
    public var proxy: ProxyConfiguration
    /// Which protocol versions are offered. Default `.automatic`.
    public var httpVersions: HTTPVersionPolicy
    /// Connections to one host at a time; further requests wait for one, inside their deadline. Default 64.
    public var connectionsPerHost: Int
    /// Idle connections kept for later use. Default 256.
    public var idleConnections: Int
    /// Bytes of one streamed body that wait for its reader before the transport stops receiving. Default 1 MiB.
    public var bodyBuffer: Int
    /// Bodies up to this many bytes are handed over finished, unless the call streams. Default 64 KiB.
    public var smallBody: Int

    /// A configuration with the defaults where nothing is said.
    public init(
        tls: TLSConfiguration = TLSConfiguration(), proxy: ProxyConfiguration = .none,
        httpVersions: HTTPVersionPolicy = .automatic,
        connectionsPerHost: Int = 64, idleConnections: Int = 256, bodyBuffer: Int = 1 << 20,
        smallBody: Int = 64 << 10
    ) {
        self.tls = tls
        self.proxy = proxy
        self.httpVersions = httpVersions
        self.connectionsPerHost = max(1, connectionsPerHost)
        self.idleConnections = max(1, idleConnections)
        self.bodyBuffer = max(16 << 10, bodyBuffer)
        self.smallBody = max(0, smallBody)
    }

    /// What cannot work whatever the environment is, each naming its option; every call throws `.configuration` with the first. Empty when all is
    /// well, as far as it shows without reading files or connecting.
    public var problems: [String] {
        tls.problems + (proxy == .environment ? [] : ProxyRules(proxy).problems)
    }
}

/// Which versions of HTTP a transport offers.
public enum HTTPVersionPolicy: Hashable, Sendable {
    /// HTTP/2 where TLS negotiates it, else HTTP/1.1.
    case automatic
    /// HTTP/1.1 only.
    case http1Only
    /// HTTP/2 also without TLS, for servers known to speak it.
    case http2PriorKnowledge
}
