// SPDX-License-Identifier: MIT

/// A scheme, a host and a port: what credentials, cookies and caches belong to (RFC 6454 §4).
///
/// Two spellings of one address, such as `[::1]` and `[0:0::1]`, are two origins: nothing is shared between them.
public struct Origin: Hashable, Sendable {
    /// In lower case.
    public let scheme: String
    /// In lower case; an IPv6 address keeps its brackets.
    public let host: String
    /// 1–65535.
    public let port: Int

    /// An origin from its parts, `nil` if one of them cannot be sent.
    ///
    /// Without a port the scheme's own is taken, which is known for http, https, ws and wss. An IPv6 address may come
    /// without its brackets. Names outside ASCII have to be in their punycode form.
    public init?(scheme: String, host: String, port: Int? = nil) {
        guard HostSyntax.isScheme(scheme) else { return nil }
        let scheme = ASCII.lowercased(scheme)
        var host = ASCII.lowercased(host)
        if host.utf8.contains(0x3A), host.utf8.first != 0x5B { host = "[\(host)]" }
        guard HostSyntax.problem(of: host) == nil else { return nil }
        guard let port = port ?? Self.defaultPort(of: scheme), (1...65_535).contains(port) else { return nil }
        self.init(scheme: scheme, host: host, port: port)
    }

    /// For parts that have been checked and put in lower case.
    init(scheme: String, host: String, port: Int) {
        self.scheme = scheme
        self.host = host
        self.port = port
    }

    /// Whether the scheme is https or wss.
    public var isSecure: Bool { scheme == "https" || scheme == "wss" }

    /// Whether the port is the one the scheme has when none is written.
    public var isDefaultPort: Bool { Self.defaultPort(of: scheme) == port }

    /// Host and port as the `Host` field has them; the default port is left out.
    public var authority: String { isDefaultPort ? host : "\(host):\(port)" }

    /// Whether the host is this machine by definition: localhost and its subdomains (RFC 6761), 127.0.0.0/8, `::1`.
    ///
    /// Transports connect to such a host without asking the DNS, or refuse to.
    public var isLoopback: Bool {
        let name = host.ends(with: ".") ? String(Substring(host.utf8.dropLast())) : host
        if name == "localhost" || name.ends(with: ".localhost") || name == "[::1]" { return true }
        return name.begins(with: "127.") && HostSyntax.isIPv4(name.utf8)
    }

    /// The addresses to connect to where the host is a name of this machine that no resolver has to know, such as
    /// `app.localhost` or `127.0.0.1.`; `nil` for addresses, for `localhost` itself and for other hosts.
    package var loopbackAddresses: String? {
        guard isLoopback, host != "localhost", host != "[::1]", !HostSyntax.isIPv4(host.utf8) else { return nil }
        let name = host.utf8.dropLast(host.ends(with: ".") ? 1 : 0)
        return HostSyntax.isIPv4(name) ? String(Substring(name)) : "127.0.0.1,[::1]"
    }

    static func defaultPort(of scheme: String) -> Int? {
        switch scheme {
        case "http", "ws": 80
        case "https", "wss": 443
        default: nil
        }
    }
}

extension Origin: CustomStringConvertible {
    /// "https://example.com", with the port if it is not the default (RFC 6454 §6.2).
    public var description: String { "\(scheme)://\(authority)" }
}
