// SPDX-License-Identifier: MIT

/// How a transport connects. The same value serves every engine.
public struct TransportConfiguration: Hashable, Sendable {
    /// Trust and versions for secure connections.
    public var tls: TLSConfiguration
    /// Through which proxy it connects. Default `.none`, which does not look at the environment.
    public var proxy: ProxyConfiguration
    /// Which protocol versions are offered. Default `.automatic`.
    public var httpVersions: HTTPVersionPolicy
    /// How many connections it keeps, and how long.
    public var pool: ConnectionPool
    /// How names become addresses.
    public var dns: DNSConfiguration
    /// The path of a Unix domain socket to which every request goes, whatever its host is. Default nil.
    public var unixSocket: String?
    /// To which addresses it connects. Default `.everything`; `.publicOnly` for URLs that users write. See
    /// `AddressPolicy`.
    public var addressPolicy: AddressPolicy
    /// From where it connects: an address or a network interface of this machine. Default nil, which leaves it to the
    /// system. Not with URLSession.
    public var localAddress: LocalAddress?
    /// Threads with which the engine on Linux performs exchanges, each started when it is needed. Default 2, at most 64.
    ///
    /// Every origin belongs to one of them, so calls to one origin share their connections whatever the number. Without
    /// TLS, where an exchange shares its connection with no other, the other loops help with an origin as soon as sixteen
    /// exchanges are under way, and a request that waits gets the first slot that becomes free at any of them. More than
    /// two pay with calls to several origins, mostly for TLS, when two use a whole core each. Each loop has its share of
    /// the pool's `perHost`, `total` and `idle`; where `total` is set, there is one loop for sixteen of it, at least one.
    public var eventLoops: Int { didSet { eventLoops = Self.inside(eventLoops, 1...64) } }
    /// How many of these loops may serve one origin over TLS, from thirty-two exchanges on. Default 1, at most 64.
    ///
    /// Over HTTP/2 each of them has a connection of its own, where RFC 9113 §9.1 asks for one to a host. It pays when calls
    /// to one host keep a thread busy all the time. They divide `ConnectionPool.perHost` among them.
    public var eventLoopsPerSecureOrigin = 1 {
        didSet { eventLoopsPerSecureOrigin = Self.inside(eventLoopsPerSecureOrigin, 1...64) }
    }
    /// Bytes of one streamed body that wait for its reader before the transport stops receiving. Default 1 MiB, at least
    /// 16 KiB.
    public var bodyBuffer: Int { didSet { bodyBuffer = Self.inside(bodyBuffer, Self.buffers) } }
    /// Bodies up to this many bytes, and up to `bodyBuffer`, are handed over finished, unless the call streams. Default
    /// 1 MiB. The engine on Linux keeps memory for them, at most 8 MiB for each thread, until it has rested for 10 s.
    public var smallBody: Int { didSet { smallBody = Self.inside(smallBody, 0...(.max)) } }

    /// A configuration with the defaults where nothing is said.
    public init(
        tls: TLSConfiguration = TLSConfiguration(), proxy: ProxyConfiguration = .none,
        httpVersions: HTTPVersionPolicy = .automatic, pool: ConnectionPool = ConnectionPool(),
        dns: DNSConfiguration = DNSConfiguration(), unixSocket: String? = nil,
        addressPolicy: AddressPolicy = .everything, localAddress: LocalAddress? = nil, eventLoops: Int = 2,
        bodyBuffer: Int = 1 << 20, smallBody: Int = 1 << 20
    ) {
        self.tls = tls
        self.proxy = proxy
        self.httpVersions = httpVersions
        self.pool = pool
        self.dns = dns
        self.unixSocket = unixSocket
        self.addressPolicy = addressPolicy
        self.localAddress = localAddress
        self.eventLoops = Self.inside(eventLoops, 1...64)
        self.bodyBuffer = Self.inside(bodyBuffer, Self.buffers)
        self.smallBody = Self.inside(smallBody, 0...(.max))
    }

    /// The largest body that is handed over finished.
    package var gatheredBody: Int { min(smallBody, bodyBuffer) }

    private static let buffers = (16 << 10)...Int.max

    private static func inside(_ value: Int, _ range: ClosedRange<Int>) -> Int {
        min(range.upperBound, max(range.lowerBound, value))
    }

    /// What cannot work, each naming its option; every call throws `.configuration` with the first. Empty when all is
    /// well, as far as it shows without the environment, files or connections.
    public var problems: [String] {
        tls.problems + (proxy == .environment ? [] : ProxyRules(proxy).problems) + pool.problems + dns.problems
            + socketProblems + addressProblems + localProblems
    }

    /// A guard that cannot see where a request goes must not seem to be one.
    private var addressProblems: [String] {
        var problems = addressPolicy.problems
        guard addressPolicy != .everything else { return problems }
        let name = "TransportConfiguration.addressPolicy"
        if proxy != .none {
            problems.append(
                "\(name) and proxy exclude each other: the proxy connects, to addresses that nobody sees here.")
        }
        if unixSocket != nil { problems.append("\(name) and unixSocket exclude each other: a socket has no address.") }
        return problems
    }

    private var socketProblems: [String] {
        guard let unixSocket else { return [] }
        var problems: [String] = []
        // The system's structure has room for 108 bytes with a final zero.
        if unixSocket.isEmpty || unixSocket.utf8.count > 107 || unixSocket.utf8.contains(0) {
            problems.append("TransportConfiguration.unixSocket: the path has to have 1 to 107 bytes.")
        }
        if proxy != .none { problems.append("TransportConfiguration.unixSocket and proxy exclude each other.") }
        return problems
    }
}

/// Which versions of HTTP a transport offers.
public enum HTTPVersionPolicy: Hashable, Sendable {
    /// HTTP/2 where TLS negotiates it, else HTTP/1.1.
    case automatic
    /// HTTP/1.1 only.
    case http1Only
    /// HTTP/2 also without TLS, for servers known to speak it (RFC 9113 §3.3).
    case http2PriorKnowledge
}
