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
        let name = Self.withoutDot(origin.host)
        let address = Self.address(name)
        return entries.contains { entry in
            if let port = entry.port, port != origin.port { return false }
            return switch entry.hosts {
            case .all: true
            case .domain(let domain): address == nil && (name == domain || name.ends(with: "." + domain))
            case .network(let network, let bits): address.map { Self.isEqual($0, network, bits: bits) } ?? false
            }
        }
    }

    private static func entry(_ text: String) -> (Hosts, Int?)? {
        var host = Substring(text)
        var port: Int?
        // One colon is that of a port; several are an address, which has a port only behind brackets.
        if let colon = host.last(":"), host.first(":") == colon || host[..<colon].ends(with: "]") {
            guard let number = Int(Substring(host.utf8[colon...].dropFirst())), (1...65_535).contains(number) else {
                return nil
            }
            port = number
            host = host[..<colon]
        }
        if host == "*" { return (.all, port) }
        if let address = address(String(host)) { return (.network(address, bits: address.count * 8), port) }
        if let slash = host.first("/") {
            guard let address = address(String(host[..<slash])),
                let bits = Int(Substring(host.utf8[slash...].dropFirst())),
                (0...address.count * 8).contains(bits)
            else { return nil }
            return (.network(address, bits: bits), port)
        }
        if host.begins(with: "*.") { host = Substring(host.utf8.dropFirst()) }
        let name = String(Substring(host.utf8.dropFirst(host.begins(with: ".") ? 1 : 0)))
        guard let origin = Origin(scheme: "http", host: name) else { return nil }
        return (.domain(withoutDot(origin.host)), port)
    }

    private static func withoutDot(_ host: String) -> String {
        host.ends(with: ".") ? String(Substring(host.utf8.dropLast())) : host
    }

    /// The bytes of an IPv4 or IPv6 address, with or without brackets; nil for names.
    private static func address(_ text: String) -> [UInt8]? {
        let text =
            text.begins(with: "[") && text.ends(with: "]") ? String(Substring(text.utf8.dropFirst().dropLast())) : text
        let isLong = text.holds(":")
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
