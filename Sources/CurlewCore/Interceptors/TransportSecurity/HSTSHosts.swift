// SPDX-License-Identifier: MIT

import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Hosts that are asked over https only, and until when (RFC 6797 §8). A value: time is a parameter.
struct HSTSHosts: Sendable {
    /// What is known of a host.
    struct Entry: Codable, Hashable, Sendable {
        let host: String
        var expires: Date
        var includesSubdomains: Bool
    }

    private struct Slot: Sendable {
        var entry: Entry
        var lastUse: UInt64
    }

    let limit: Int
    private var slots: [String: Slot] = [:]
    private var uses: UInt64 = 0

    init(limit: Int) {
        self.limit = max(1, limit)
    }

    /// In the order of their names.
    var entries: [Entry] { slots.values.map(\.entry).sorted { $0.host < $1.host } }

    /// Takes what a host says of itself. True if it is news: ends that move by less than an hour are not.
    ///
    /// At the limit those go first that have ended, then the one that was least recently used or heard of: a server with
    /// many names can push out hosts that nobody asks, not those in use.
    mutating func note(_ rule: StrictTransportSecurity, of host: String, at now: Date) -> Bool {
        guard let name = Self.name(host) else { return false }
        guard rule.maxAge > 0 else { return slots.removeValue(forKey: name) != nil }
        let entry = Entry(
            host: name, expires: now.addingTimeInterval(Double(rule.maxAge)),
            includesSubdomains: rule.includesSubdomains)
        return insert(entry, at: now)
    }

    mutating func insert(_ entry: Entry, at now: Date) -> Bool {
        guard let name = Self.name(entry.host), entry.expires > now else { return false }
        uses += 1
        let former = slots.updateValue(Slot(entry: entry, lastUse: uses), forKey: name)?.entry
        makeRoom(at: now)
        guard let former else { return true }
        return former.includesSubdomains != entry.includesSubdomains
            || abs(former.expires.timeIntervalSince(entry.expires)) >= 3600
    }

    private mutating func makeRoom(at now: Date) {
        guard slots.count > limit else { return }
        slots = slots.filter { $0.value.entry.expires > now }
        while slots.count > limit, let oldest = slots.min(by: { $0.value.lastUse < $1.value.lastUse }) {
            slots[oldest.key] = nil
        }
    }

    /// Whether `host` is to be asked over https: it or, with its subdomains, a host above it has said so.
    mutating func demandsHTTPS(_ host: String, at now: Date) -> Bool {
        guard !slots.isEmpty, let name = Self.name(host) else { return false }
        var rest = name[...]
        while true {
            let key = String(rest)
            if let entry = slots[key]?.entry, entry.expires > now, entry.includesSubdomains || key == name {
                uses += 1
                slots[key]?.lastUse = uses
                return true
            }
            guard let dot = rest.utf8.firstIndex(of: UInt8(ascii: ".")) else { return false }
            rest = rest[rest.utf8.index(after: dot)...]
        }
    }

    mutating func remove(_ host: String) -> Bool {
        Self.name(host).flatMap { slots.removeValue(forKey: $0) } != nil
    }

    mutating func removeAll() {
        slots = [:]
    }

    /// In lower case, without a dot at the end. Nil for addresses, shortened ones of IPv4 included (RFC 6797 §8.1.1): no
    /// name ends in a number.
    private static func name(_ host: String) -> String? {
        guard var name = Origin(scheme: "https", host: host)?.host else { return nil }
        if name.utf8.last == UInt8(ascii: ".") { name.removeLast() }
        let label = name.utf8.split(separator: UInt8(ascii: ".")).last.map(Array.init) ?? []
        let isNumber = label.allSatisfy { (0x30...0x39).contains($0) } || label.starts(with: "0x".utf8)
        return isNumber || name.utf8.first == UInt8(ascii: "[") ? nil : name
    }
}
