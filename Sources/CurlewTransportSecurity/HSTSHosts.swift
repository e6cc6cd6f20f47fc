// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The hosts that require https, each with an expiry (RFC 6797 §8). The functions receive the time as a parameter.
struct HSTSHosts: Sendable {
    /// The HSTS policy of a host.
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

    /// The entries, ordered by host name.
    var entries: [Entry] { slots.values.map(\.entry).sorted { $0.host < $1.host } }

    /// Records the policy of a host. Returns whether the policy changed; an expiry that moves by less than an hour is
    /// not a change.
    ///
    /// At the limit, expired hosts are removed first, then the hosts that were least recently used or updated. A server
    /// with many names can displace hosts that are not used, but not those in use.
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

    /// Returns whether `host` requires https, by its own policy or by the policy of a parent domain with
    /// `includeSubDomains`.
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

    /// Returns the host name in lower case, without a trailing dot. Returns nil for an IP address, including shortened
    /// IPv4 forms (RFC 6797 §8.1.1). A host whose last label is a number is an address.
    private static func name(_ host: String) -> String? {
        guard var name = Origin(scheme: "https", host: host)?.host else { return nil }
        if name.utf8.last == UInt8(ascii: ".") { name.removeLast() }
        let label = name.utf8.split(separator: UInt8(ascii: ".")).last.map(Array.init) ?? []
        let isNumber = label.allSatisfy { (0x30...0x39).contains($0) } || label.starts(with: "0x".utf8)
        return isNumber || name.utf8.first == UInt8(ascii: "[") ? nil : name
    }
}
