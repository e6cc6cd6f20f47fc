// SPDX-License-Identifier: MIT

package import CurlewHTTP

/// Through which proxy a transport connects.
///
/// The default is `.none`: where a call goes does not depend on variables that happen to surround the process. Programs
/// whose users expect what `curl` and other tools do choose `.environment`.
public enum ProxyConfiguration: Hashable, Sendable {
    /// Straight to the server, whatever the environment says.
    case none
    /// What the environment says when the transport is made; later changes do not count.
    ///
    /// `https_proxy`, `all_proxy` and `no_proxy` in lower or upper case, `http_proxy` in lower case only: a server turns
    /// the field `Proxy` of a request into the variable `HTTP_PROXY` of its programs. The scheme of the *request*
    /// chooses the variable; an empty one counts as absent. This machine (`localhost`, 127.0.0.0/8, `::1`) is always
    /// reached directly. A value that cannot be read makes every call throw `.configuration`.
    case environment
    /// This proxy for all hosts but those in the list, and but this machine (`localhost`, 127.0.0.0/8, `::1`) if the proxy
    /// is on another one.
    ///
    /// The list has the entries of `no_proxy`: a name stands for itself and every name beneath it, with or without a dot
    /// in front; an address for itself; `10.0.0.0/8` for a network; each with a port for that port only; `*` for all.
    case fixed(ProxyServer, bypassing: [String] = [])
}

/// A proxy: its kind, where it is, and the credentials for it.
///
/// Requests for https go through a tunnel (CONNECT, RFC 9110 §9.3.6) that tells an HTTP proxy host and port of the
/// server, and its own credentials; the server never gets these. Names of servers are looked up by the proxy.
/// Descriptions show no credentials.
public struct ProxyServer: Hashable, Sendable {
    /// How one talks to a proxy.
    public enum Kind: String, Hashable, Sendable {
        /// HTTP, without TLS up to the proxy.
        case http
        /// HTTP over TLS. The proxy's certificate is checked like a server's; identity and pins are not for it.
        case https
        /// SOCKS version 5 (RFC 1928).
        case socks5
    }

    /// How a client proves to an HTTP proxy who it is.
    public enum Authentication: Hashable, Sendable {
        /// User and password, sent with each request that goes to the proxy (RFC 7617): who listens on the way to it can
        /// read them.
        case basic
        /// An answer to a challenge, which does not show the password (RFC 7616).
        case digest
        /// The ticket of Kerberos that the user of this machine has, or what the user and password get (RFC 4559). The
        /// engine needs a libcurl that is built with GSS-API; without it every call throws `.configuration`.
        case negotiate
    }

    /// How one talks to it.
    public let kind: Kind
    /// Its name or address.
    public let host: String
    /// Its port.
    public let port: Int
    package let user: String?
    package let password: String?
    /// How the client proves who it is. Never another way than this one: credentials for Digest are not sent with Basic,
    /// whatever the proxy asks for.
    public let authentication: Authentication

    /// A proxy. Without a port it is 80, 443 or 1080. Credentials are sent with Basic, or as SOCKS has them (RFC 1929).
    ///
    /// With `.digest` and `.negotiate` requests for http go through a tunnel too, because otherwise each would have to be
    /// sent twice, the first time for the challenge: the proxy must allow CONNECT to that port.
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

    /// The origin of an HTTP server at the same place; nil if host or port cannot be sent.
    package var origin: Origin? { Origin(scheme: "http", host: host, port: port) }

    /// Whether it is on this machine.
    var isLoopback: Bool { origin?.isLoopback ?? false }

    /// `http://proxy.example:3128`, without credentials.
    package var url: String? {
        origin.map { "\(kind == .socks5 ? "socks5h" : kind.rawValue)://\($0.host):\($0.port)" }
    }
}

extension ProxyServer {
    /// A proxy from a URL as the variables have it: `http://user:password@proxy.example:3128`. Nil if it is none.
    ///
    /// The schemes are http, https, socks5 and socks5h (the same here); without one it is http. Credentials are
    /// percent-decoded.
    public init?(_ url: String) {
        var rest = Substring(url)
        var kind = Kind.http
        if let separator = rest.utf8.firstRange(of: "://".utf8) {
            let scheme = rest[..<separator.lowerBound].lowercased()
            guard let named = Kind(rawValue: scheme == "socks5h" ? "socks5" : scheme) else { return nil }
            kind = named
            rest = rest[separator.upperBound...]
        }
        if rest.ends(with: "/") { rest = Substring(rest.utf8.dropLast()) }
        var credentials: [String] = []
        if let at = rest.last("@") {
            let parts = rest[..<at].parts(":", most: 2, keepingEmpty: true)
            credentials = parts.compactMap { PercentCoding.decode(String($0)) }
            guard credentials.count == parts.count else { return nil }
            rest = Substring(rest.utf8[at...].dropFirst())
        }
        let colon = rest.ends(with: "]") ? nil : rest.last(":")
        let port = colon.map { Int(Substring(rest.utf8[$0...].dropFirst())) ?? 0 }
        self.init(
            kind, host: String(rest[..<(colon ?? rest.endIndex)]), port: port, user: credentials.first,
            password: credentials.count > 1 ? credentials[1] : nil)
        guard self.url != nil else { return nil }
    }
}

extension ProxyServer: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Kind, host and port.
    public var description: String {
        // A host that holds an @ is none: what stands before it may be a password.
        let at = host.utf8.lastIndex(of: UInt8(ascii: "@"))
        let name = at.map { String(Substring(host.utf8[$0...].dropFirst())) } ?? host
        return "\(kind.rawValue)://\(user == nil && at == nil ? "" : Redaction.mark + "@")\(name):\(port)".printable
    }

    /// The same as `description`.
    public var debugDescription: String { description }

    /// Shows the description only, to debuggers and `dump` too.
    public var customMirror: Mirror {
        Mirror(self, children: ["proxy": description])
    }
}
