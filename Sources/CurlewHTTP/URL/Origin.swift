// SPDX-License-Identifier: MIT

/// A scheme, a host and a port: the scope of credentials and cached responses (RFC 6454 §4).
///
/// Different spellings of one address, such as `[::1]` and `[0:0::1]`, are different origins and share nothing.
public struct Origin: Hashable, Sendable {
    /// The scheme, in lower case.
    public let scheme: String
    /// The host, in lower case. An IPv6 address keeps its brackets.
    public let host: String
    /// The port, 1–65535.
    public let port: Int

    /// Creates an origin from its parts. Returns `nil` if a part is invalid.
    ///
    /// If `port` is omitted, the default port of the scheme is used: 80 for http and ws, 443 for https and wss. Other
    /// schemes need a port. The brackets of an IPv6 address are optional. Names outside ASCII must be in punycode.
    public init?(scheme: String, host: String, port: Int? = nil) {
        guard HostSyntax.isScheme(scheme) else { return nil }
        let scheme = ASCII.lowercased(scheme)
        var host = ASCII.lowercased(host)
        if host.utf8.contains(0x3A), host.utf8.first != 0x5B { host = "[\(host)]" }
        guard HostSyntax.problem(of: host) == nil else { return nil }
        guard let port = port ?? Self.defaultPort(of: scheme), (1...65_535).contains(port) else { return nil }
        self.init(scheme: scheme, host: host, port: port)
    }

    /// Creates an origin from parts that have been validated and are in lower case.
    init(scheme: String, host: String, port: Int) {
        self.scheme = scheme
        self.host = host
        self.port = port
    }

    /// Whether the scheme is https or wss.
    public var isSecure: Bool { scheme == "https" || scheme == "wss" }

    /// Whether the port is the default port of the scheme.
    public var isDefaultPort: Bool { Self.defaultPort(of: scheme) == port }

    /// The host and port as in the `Host` field. The default port is omitted.
    public var authority: String { isDefaultPort ? host : "\(host):\(port)" }

    /// Whether the host is always a loopback host: localhost and its subdomains (RFC 6761), 127.0.0.0/8 and `::1`.
    ///
    /// Transports connect to such a host without a DNS query, or refuse to connect.
    public var isLoopback: Bool {
        let name = host.withoutLastDot
        if name == "localhost" || name.ends(with: ".localhost") || name == "[::1]" { return true }
        return name.begins(with: "127.") && HostSyntax.isIPv4(name.utf8)
    }

    /// The addresses, separated by commas, of a loopback name that a resolver may not know, such as `app.localhost` or
    /// `127.0.0.1.`; `nil` for addresses, for `localhost` itself and for other hosts.
    package var loopbackAddresses: String? {
        guard isLoopback, host != "localhost", host != "[::1]", !HostSyntax.isIPv4(host.utf8) else { return nil }
        let name = host.withoutLastDot
        return HostSyntax.isIPv4(name.utf8) ? name : "127.0.0.1,[::1]"
    }

    static func defaultPort(of scheme: String) -> Int? {
        switch scheme {
        case "http", "ws": 80
        case "https", "wss": 443
        default: nil
        }
    }
}

extension String {
    /// A host name without the dot that marks a fully qualified one.
    package var withoutLastDot: String { ends(with: ".") ? String(Substring(utf8.dropLast())) : self }
}

extension Origin: CustomStringConvertible {
    /// The origin as text (RFC 6454 §6.2): "https://example.com", followed by the port if it is not the default port.
    public var description: String { "\(scheme)://\(authority)" }
}
