// SPDX-License-Identifier: MIT

/// The connection settings of a transport. All transports use the same type. With a value that is invalid, or that the
/// transport does not support, every call throws `.configuration`.
public struct TransportConfiguration: Hashable, Sendable {
    /// The TLS settings: trusted roots, client identity, pins and the minimum version.
    public var tls: TransportConfiguration.TLS
    /// The proxy through which the transport connects. Default `.none`, which ignores the environment.
    public var proxy: TransportConfiguration.Proxy
    /// The HTTP versions that the transport offers. Default `.automatic`.
    public var httpVersions: TransportConfiguration.HTTPVersionPolicy
    /// The limits of the connection pool.
    public var pool: TransportConfiguration.Pool
    /// The settings for the resolution of host names.
    public var dns: TransportConfiguration.DNS
    /// The path of a Unix domain socket, 1 to 107 bytes, to which every request is sent, whatever its host is. Default
    /// nil: no socket. Excludes a proxy, an address policy and a local address. With TLS, a connection to the socket is
    /// closed when the requests in progress on it have ended.
    public var unixSocket: String?
    /// The addresses to which the transport may connect. Default `.everything`. Use `.publicOnly` for URLs from users.
    public var addressPolicy: TransportConfiguration.AddressPolicy
    /// The local address or network interface from which the transport connects. Default nil: the system chooses. Not
    /// supported by URLSession.
    public var localAddress: TransportConfiguration.LocalAddress?
    /// The number of unread bytes of one streamed body at which the transport stops receiving. Default 1 MiB. A value
    /// below 16 KiB counts as 16 KiB.
    public var bodyBuffer: Int { didSet { bodyBuffer = max(Self.minimumBuffer, bodyBuffer) } }
    /// The maximum size, in bytes, of a body that is returned complete together with the response, unless the call
    /// streams. `bodyBuffer` limits it too. Default 1 MiB. `CurlTransport` keeps memory for such bodies, at most 8 MiB
    /// per event loop, until the event loop has been idle for 10 s.
    public var smallBody: Int { didSet { smallBody = max(0, smallBody) } }

    /// Creates a configuration. Omitted parameters have the defaults.
    public init(
        tls: TransportConfiguration.TLS = TransportConfiguration.TLS(), proxy: TransportConfiguration.Proxy = .none,
        httpVersions: TransportConfiguration.HTTPVersionPolicy = .automatic,
        pool: TransportConfiguration.Pool = TransportConfiguration.Pool(),
        dns: TransportConfiguration.DNS = TransportConfiguration.DNS(), unixSocket: String? = nil,
        addressPolicy: TransportConfiguration.AddressPolicy = .everything,
        localAddress: TransportConfiguration.LocalAddress? = nil,
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
        self.bodyBuffer = max(Self.minimumBuffer, bodyBuffer)
        self.smallBody = max(0, smallBody)
    }

    /// The maximum size of a body that is returned complete: the smaller of `smallBody` and `bodyBuffer`.
    package var gatheredBody: Int { min(smallBody, bodyBuffer) }

    private static let minimumBuffer = 16 << 10

    /// The configuration errors, each naming its option. Every call throws `.configuration` with the first. Empty if
    /// the configuration is valid, as far as can be checked without the environment, files or connections.
    package var problems: [String] {
        tls.problems + (proxy == .environment ? [] : ProxyRules(proxy).problems) + pool.problems + dns.problems
            + socketProblems + addressProblems + localProblems
    }

    /// The errors for options that hide the server's address from the policy, which would then protect nothing.
    private var addressProblems: [String] {
        var problems = addressPolicy.problems
        guard addressPolicy != .everything else { return problems }
        let name = "TransportConfiguration.addressPolicy"
        if proxy != .none {
            problems.append(
                "\(name) and proxy are mutually exclusive: the proxy connects, and the client cannot see its addresses."
            )
        }
        if unixSocket != nil {
            problems.append("\(name) and unixSocket are mutually exclusive: a socket has no IP address.")
        }
        return problems
    }

    private var socketProblems: [String] {
        guard let unixSocket else { return [] }
        var problems: [String] = []
        // The system's structure has room for 108 bytes, including the final zero.
        if unixSocket.isEmpty || unixSocket.utf8.count > 107 || unixSocket.utf8.contains(0) {
            problems.append("TransportConfiguration.unixSocket: the path must have 1 to 107 bytes.")
        }
        if proxy != .none { problems.append("TransportConfiguration.unixSocket and proxy are mutually exclusive.") }
        return problems
    }
}

extension TransportConfiguration {
    /// The HTTP versions that a transport offers. URLSession supports only `.automatic`.
    public enum HTTPVersionPolicy: Hashable, Sendable {
        /// HTTP/2 where TLS negotiates it, otherwise HTTP/1.1.
        case automatic
        /// HTTP/1.1 only.
        case http1Only
        /// HTTP/2 even without TLS, for servers that are known to support it (RFC 9113 §3.3).
        case http2PriorKnowledge
    }

    /// The way in which a transport treats running exchanges when it shuts down. In both modes, the transport refuses
    /// new work immediately, with `.refused(by: .shutdown)`.
    public enum ShutdownMode: Hashable, Sendable {
        /// Ends all running exchanges immediately, with `.refused(by: .shutdown)`.
        case now
        /// Lets accepted exchanges finish, including their bodies and those that wait for a connection. Exchanges that
        /// are left after the duration `deadline` end as with `now`.
        ///
        /// A body that is not read keeps its exchange open until then. A deadline of zero or less means `now`.
        case drain(deadline: Duration)
    }

    /// The local address or network interface from which a transport connects.
    ///
    /// It applies to connections to servers and to proxies. An address connects only to addresses of its own family:
    /// IPv4 to IPv4, IPv6 to IPv6. If this machine lacks the address or interface, calls that open a connection throw
    /// `.configuration`.
    public enum LocalAddress: Hashable, Sendable {
        /// A local address: `"192.0.2.7"`, `"2001:db8::7"`.
        case address(String)
        /// The network interface with this name, at most 15 bytes: `"eth0"`. Unprivileged programs can bind to an
        /// interface from Linux 5.7 on. On an older Linux, the transport uses an address of the interface.
        case interface(String)

        /// The reason why the value is invalid, as far as can be checked without the system; nil if there is none.
        fileprivate var problem: String? {
            switch self {
            case .address(let address):
                IPAddress(address) == nil
                    ? "\"\(address.clipped(to: 60).printable)\" is not an IP address." : nil
            case .interface(let name):
                // The system's structure has room for 16 bytes, including the final zero. It allows neither slashes nor
                // blanks.
                name.utf8.isEmpty || name.utf8.count > 15
                    || name.utf8.contains { $0 <= 0x20 || $0 == 0x2F || $0 == 0x7F }
                    ? "\"\(name.clipped(to: 60).printable)\" is not the name of a network interface." : nil
            }
        }
    }

    var localProblems: [String] {
        guard let localAddress else { return [] }
        var problems = localAddress.problem.map { ["TransportConfiguration.localAddress: \($0)"] } ?? []
        if unixSocket != nil {
            problems.append("TransportConfiguration.localAddress and unixSocket are mutually exclusive.")
        }
        return problems
    }
}
