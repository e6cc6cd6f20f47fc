// SPDX-License-Identifier: MIT

public import CurlewHTTP

extension TransportConfiguration {
    /// The proxy through which a transport connects.
    ///
    /// The default is `.none`, so that the environment of the process does not affect calls. Programs that should
    /// behave like `curl` and other tools use `.environment`.
    public enum Proxy: Hashable, Sendable {
        /// Connects directly to the server, whatever the environment contains.
        case none
        /// Uses the environment variables as they are when the transport is created. Later changes have no effect.
        ///
        /// The variables are `https_proxy`, `all_proxy` and `no_proxy` in lower or upper case, and `http_proxy` in
        /// lower case only, because CGI servers pass the field `Proxy` of a request as the variable `HTTP_PROXY`. The
        /// scheme of the *request* selects the variable; `all_proxy` applies if it is absent, and lower case comes
        /// first. An empty variable counts as absent. This machine (`localhost`, 127.0.0.0/8, `::1`) is always reached
        /// directly. If a proxy variable cannot be parsed, every call throws `.configuration`. Entries of `no_proxy`
        /// that cannot be parsed are ignored.
        case environment
        /// Uses this proxy for all hosts except those in the list, and except this machine (`localhost`, 127.0.0.0/8,
        /// `::1`) if the proxy is on another machine.
        ///
        /// The list has the syntax of `no_proxy`: a name matches itself and every name below it, with or without a
        /// leading dot; an address matches itself; `10.0.0.0/8` matches a network; a port restricts an entry to that
        /// port; `*` matches all hosts. With any other entry, every call throws `.configuration`.
        case fixed(TransportConfiguration.Proxy.Server, bypassing: [String] = [])
    }
}

extension TransportConfiguration.Proxy {
    /// A proxy server: its kind, address and credentials.
    ///
    /// With an HTTP proxy, https requests use a tunnel (CONNECT, RFC 9110 §9.3.6): the proxy then sees the host and
    /// port of the server, and the proxy credentials, but not the request. The server never receives the proxy
    /// credentials. The proxy resolves the names of servers. Descriptions contain no credentials.
    public struct Server: Hashable, Sendable {
        /// The protocol between the transport and a proxy.
        public enum Kind: String, Hashable, Sendable {
            /// HTTP, without TLS to the proxy.
            case http
            /// HTTP over TLS. The proxy's certificate is verified like a server's. The client identity and pins do not
            /// apply to it.
            case https
            /// SOCKS version 5 (RFC 1928).
            case socks5
        }

        /// The scheme with which the transport authenticates to an HTTP proxy.
        public enum Authentication: Hashable, Sendable {
            /// User and password, sent with each request to the proxy (RFC 7617), and readable in transit without TLS
            /// to it.
            case basic
            /// A response to a challenge, which does not disclose the password (RFC 7616).
            case digest
            /// The Kerberos ticket of the user of this machine, or a ticket obtained with user and password (RFC 4559).
            /// With a libcurl without GSS-API, every call through the proxy throws `.configuration`.
            case negotiate
        }

        /// The protocol between the transport and the proxy.
        public let kind: Kind
        /// The host name or IP address of the proxy.
        public let host: String
        /// The port of the proxy.
        public let port: Int
        package let user: String?
        package let password: String?
        /// The authentication scheme. No other scheme is used: credentials for Digest are never sent with Basic,
        /// whatever the proxy requests.
        public let authentication: Authentication

        /// Creates a proxy. The default port is 80 for `.http`, 443 for `.https` and 1080 for `.socks5`. Credentials
        /// are sent with Basic by default, or to a SOCKS proxy as RFC 1929 specifies. With an invalid host or port,
        /// `.digest` without a user, or a scheme other than `.basic` for SOCKS, every call throws `.configuration`.
        ///
        /// With `.digest` and `.negotiate`, requests for http use a tunnel too, because otherwise each request would
        /// have to be sent twice, the first time for the challenge. The proxy must allow CONNECT to the port of the
        /// server.
        public init(
            _ kind: Kind, host: String, port: Int? = nil, user: String? = nil, password: String? = nil,
            authentication: Authentication = .basic
        ) {
            self.authentication = authentication
            self.kind = kind
            self.host = host
            self.port = port ?? (kind == .http ? 80 : kind == .https ? 443 : 1080)
            self.user = user
            self.password = password ?? (user == nil ? nil : "")
        }

        /// The origin of an HTTP server at the same host and port; nil if they are not valid.
        package var origin: Origin? { Origin(scheme: "http", host: host, port: port) }

        var isLoopback: Bool { origin?.isLoopback ?? false }

        /// The URL without credentials, such as `http://proxy.example:3128`.
        package var url: String? {
            origin.map { "\(kind == .socks5 ? "socks5h" : kind.rawValue)://\($0.host):\($0.port)" }
        }
    }
}

extension TransportConfiguration.Proxy.Server {
    /// Parses a proxy URL as in environment variables, `http://user:password@proxy.example:3128`; nil if it is not
    /// valid.
    ///
    /// The schemes are http, https, socks5 and socks5h (the same here); without a scheme, http. The default port is
    /// that of the kind. Credentials are percent-decoded.
    public init?(_ url: String) {
        var remainder = Substring(url)
        var kind = Kind.http
        if let separator = remainder.utf8.firstRange(of: "://".utf8) {
            let scheme = remainder[..<separator.lowerBound].lowercased()
            guard let named = Kind(rawValue: scheme == "socks5h" ? "socks5" : scheme) else { return nil }
            kind = named
            remainder = remainder[separator.upperBound...]
        }
        if remainder.ends(with: "/") { remainder = Substring(remainder.utf8.dropLast()) }
        var credentials: [String] = []
        if let at = remainder.last("@") {
            let parts = remainder[..<at].parts(":", maximum: 2, keepingEmpty: true)
            credentials = parts.compactMap { PercentCoding.decode(String($0)) }
            guard credentials.count == parts.count else { return nil }
            remainder = Substring(remainder.utf8[at...].dropFirst())
        }
        let colon = remainder.ends(with: "]") ? nil : remainder.last(":")
        let port = colon.map { Int(clamping: ASCII.decimal(Substring(remainder.utf8[$0...].dropFirst())) ?? 0) }
        self.init(
            kind, host: String(remainder[..<(colon ?? remainder.endIndex)]), port: port, user: credentials.first,
            password: credentials.count > 1 ? credentials[1] : nil)
        guard self.url != nil else { return nil }
    }
}

extension TransportConfiguration.Proxy.Server: MirroredByDescription {
    /// The kind, host and port: `http://proxy.example:3128`. Credentials are redacted.
    public var description: String {
        // A host that contains an @ is not valid: the text before it may be a password.
        let at = host.utf8.lastIndex(of: UInt8(ascii: "@"))
        let name = at.map { String(Substring(host.utf8[$0...].dropFirst())) } ?? host
        return "\(kind.rawValue)://\(user == nil && at == nil ? "" : Redaction.mark + "@")\(name):\(port)".printable
    }
}
