// SPDX-License-Identifier: MIT

package import CurlewHTTP

/// The rules that select the proxy for a request: a `TransportConfiguration.Proxy` with the environment parsed.
package struct ProxyRules: Sendable {
    private typealias ProxyServer = TransportConfiguration.Proxy.Server

    private var http: ProxyServer?
    private var https: ProxyServer?
    private var bypassed = ProxyBypass([])
    private var bypassesLoopback = false
    /// The configuration errors. Each message names the option or variable, and contains no credentials.
    package private(set) var problems: [String] = []

    /// Parses the configuration. `environment` is evaluated only for `.environment`.
    package init(_ configuration: TransportConfiguration.Proxy, environment: @autoclosure () -> [String: String] = [:])
    {
        switch configuration {
        case .none: break
        case .environment: read(environment())
        case .fixed(let proxy, let bypassing):
            (http, https) = (proxy, proxy)
            bypassed = ProxyBypass(bypassing)
            if proxy.url == nil {
                problems.append("TransportConfiguration.proxy: \(proxy) has an invalid host or port.")
            }
            if proxy.authentication != .basic, proxy.kind == .socks5 {
                problems.append(
                    "TransportConfiguration.Proxy.Server.authentication applies to HTTP proxies, not to SOCKS.")
            }
            if proxy.authentication == .digest, proxy.user == nil {
                problems.append("TransportConfiguration.proxy: Digest needs a user and a password.")
            }
            problems += bypassed.unreadable.map {
                "TransportConfiguration.proxy: \"\($0)\" in the list of bypassed hosts is not a host or network."
            }
        }
        isEmpty = http == nil && https == nil
    }

    /// True if no request uses a proxy. Stored, because it is read for each exchange.
    package private(set) var isEmpty = true

    /// True if the connection to at least one proxy uses TLS.
    package var needsTrust: Bool { http?.kind == .https || https?.kind == .https }

    /// Returns the proxy for requests to `origin`; nil for a direct connection.
    ///
    /// Requests to this machine use no proxy on another machine, and none of the environment. Pass false for
    /// `sparesLoopback` to predict the choice of a library without that rule.
    package func proxy(for origin: Origin, sparesLoopback: Bool = true) -> TransportConfiguration.Proxy.Server? {
        guard let proxy = origin.isSecure ? https : http else { return nil }
        if sparesLoopback, origin.isLoopback, bypassesLoopback || !proxy.isLoopback { return nil }
        return bypassed.contains(origin) ? nil : proxy
    }

    private mutating func read(_ environment: [String: String]) {
        bypassesLoopback = true
        http = proxy("http_proxy", "all_proxy", "ALL_PROXY", in: environment)
        https = proxy("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", in: environment)
        let list = [environment["no_proxy"], environment["NO_PROXY"]].compactMap { $0 }.first { !$0.isEmpty } ?? ""
        // Other programs read the list too, so entries that cannot be parsed are ignored.
        bypassed = ProxyBypass(list.utf8.split { $0 == UInt8(ascii: ",") || $0 <= 0x20 }.map { String(Substring($0)) })
    }

    private mutating func proxy(_ names: String..., in environment: [String: String]) -> ProxyServer? {
        guard let name = names.first(where: { environment[$0]?.isEmpty == false }), let value = environment[name]
        else { return nil }
        let proxy = TransportConfiguration.Proxy.Server(value)
        let problem =
            "TransportConfiguration.proxy: the variable \(name) is not a proxy URL, such as http://proxy.example:3128."
        if proxy == nil, !problems.contains(problem) { problems.append(problem) }
        return proxy
    }
}

/// The hosts to which a transport connects without the proxy, parsed from the syntax of `no_proxy`.
struct ProxyBypass: Sendable {
    private enum Hosts: Sendable {
        case all
        /// A name and all names below it.
        case domain(String)
        case network(IPNetwork)
    }

    private var entries: [(hosts: Hosts, port: Int?)] = []
    /// The entries that could not be parsed.
    private(set) var unreadable: [String] = []

    init(_ list: [String]) {
        for text in list {
            if let entry = Self.entry(text) { entries.append(entry) } else { unreadable.append(text) }
        }
    }

    func contains(_ origin: Origin) -> Bool {
        guard !entries.isEmpty else { return false }
        let name = origin.host.withoutLastDot
        let address = IPAddress(name)
        return entries.contains { entry in
            if let port = entry.port, port != origin.port { return false }
            return switch entry.hosts {
            case .all: true
            case .domain(let domain): address == nil && (name == domain || name.ends(with: "." + domain))
            case .network(let network): address.map(network.contains) ?? false
            }
        }
    }

    private static func entry(_ text: String) -> (Hosts, Int?)? {
        var host = Substring(text)
        var port: Int?
        // A single colon separates a port. Several colons belong to an IPv6 address, which has a port only after
        // brackets.
        if let colon = host.last(":"), host.first(":") == colon || host[..<colon].ends(with: "]") {
            guard let number = ASCII.decimal(Substring(host.utf8[colon...].dropFirst())), (1...65_535).contains(number)
            else { return nil }
            port = Int(number)
            host = host[..<colon]
        }
        if host == "*" { return (.all, port) }
        if let network = IPNetwork(String(host)) { return (.network(network), port) }
        if host.utf8.contains(0x2F) { return nil }
        if host.begins(with: "*.") { host = Substring(host.utf8.dropFirst()) }
        let name = String(Substring(host.utf8.dropFirst(host.begins(with: ".") ? 1 : 0)))
        guard let origin = Origin(scheme: "http", host: name) else { return nil }
        return (.domain(origin.host.withoutLastDot), port)
    }
}
