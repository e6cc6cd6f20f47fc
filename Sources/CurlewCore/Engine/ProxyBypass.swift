// SPDX-License-Identifier: MIT

import CurlewHTTP

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
            guard let number = Int(Substring(host.utf8[colon...].dropFirst())), (1...65_535).contains(number) else {
                return nil
            }
            port = number
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
