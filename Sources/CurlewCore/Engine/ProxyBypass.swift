// SPDX-License-Identifier: MIT

import CurlewHTTP

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Hosts that are reached without the proxy, as `no_proxy` lists them.
struct ProxyBypass: Sendable {
    private enum Hosts: Sendable {
        case all
        /// A name and all beneath it.
        case domain(String)
        case network([UInt8], bits: Int)
    }

    private var entries: [(hosts: Hosts, port: Int?)] = []
    /// Entries without a meaning.
    private(set) var unreadable: [String] = []

    init(_ list: [String]) {
        for text in list {
            if let entry = Self.entry(text) { entries.append(entry) } else { unreadable.append(text) }
        }
    }

    func contains(_ origin: Origin) -> Bool {
        guard !entries.isEmpty else { return false }
        let name = origin.host.hasSuffix(".") ? String(origin.host.dropLast()) : origin.host
        let address = Self.address(name)
        return entries.contains { entry in
            if let port = entry.port, port != origin.port { return false }
            return switch entry.hosts {
            case .all: true
            case .domain(let domain): address == nil && (name == domain || name.hasSuffix("." + domain))
            case .network(let network, let bits): address.map { Self.isEqual($0, network, bits: bits) } ?? false
            }
        }
    }

    private static func entry(_ text: String) -> (Hosts, Int?)? {
        var host = Substring(text)
        var port: Int?
        // One colon is that of a port; several are an address, which has a port only behind brackets.
        if let colon = host.lastIndex(of: ":"), host.count(where: { $0 == ":" }) == 1 || host[..<colon].last == "]" {
            guard let number = Int(host[host.index(after: colon)...]), (1...65_535).contains(number) else { return nil }
            port = number
            host = host[..<colon]
        }
        if host == "*" { return (.all, port) }
        if let address = address(String(host)) { return (.network(address, bits: address.count * 8), port) }
        if let slash = host.firstIndex(of: "/") {
            guard let address = address(String(host[..<slash])), let bits = Int(host[host.index(after: slash)...]),
                (0...address.count * 8).contains(bits)
            else { return nil }
            return (.network(address, bits: bits), port)
        }
        if host.hasPrefix("*.") { host = host.dropFirst() }
        let name = String(host.hasPrefix(".") ? host.dropFirst() : host)
        guard let origin = Origin(scheme: "http", host: name) else { return nil }
        return (.domain(origin.host.hasSuffix(".") ? String(origin.host.dropLast()) : origin.host), port)
    }

    /// The bytes of an IPv4 or IPv6 address, with or without brackets; nil for names.
    private static func address(_ text: String) -> [UInt8]? {
        let text = text.hasPrefix("[") && text.hasSuffix("]") ? String(text.dropFirst().dropLast()) : text
        let isLong = text.contains(":")
        var bytes = [UInt8](repeating: 0, count: isLong ? 16 : 4)
        return inet_pton(isLong ? AF_INET6 : AF_INET, text, &bytes) == 1 ? bytes : nil
    }

    private static func isEqual(_ left: [UInt8], _ right: [UInt8], bits: Int) -> Bool {
        guard left.count == right.count else { return false }
        let whole = bits / 8
        guard left.prefix(whole) == right.prefix(whole) else { return false }
        let rest = bits % 8
        return rest == 0 || (left[whole] ^ right[whole]) >> (8 - rest) == 0
    }
}
