// SPDX-License-Identifier: MIT

import CurlewHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The keys that a server's own certificate may have, besides being valid and trusted.
///
///     PinSet(
///         hosts: ["api.example.com"],
///         keys: ["sha256//tbFX…=", "sha256//9pWk…="],     // the one in use, and the next one
///         expires: releaseDate.addingTimeInterval(365 * 86_400))
///
/// A pin is the SHA-256 of the certificate's public key (its SubjectPublicKeyInfo), so that it outlives renewals that
/// keep the key. What counts is the server's own certificate, not an authority's. A server with another key ends the
/// call with `.secureConnectionFailed(.pinMismatch)`, which is never retried, before a byte of the request has left.
///
/// Pinning locks out those who still use an old release when the server's key changes. Therefore:
/// - A set needs at least two keys: one whose private key waits in a safe place is what recovery means. With fewer,
///   every call throws `.configuration`.
/// - After `expires` a set is not enforced any more, and the certificate is checked as for any other host: an old
///   release loses the additional check, not its server. Observers get `.warned(.pinsExpired)` for each new connection,
///   and `.warned(.pinsExpireSoon)` in the 30 days before.
/// - `.reportOnly` tells observers of mismatches and lets the call go on, for a trial in production.
public struct PinSet: Hashable, Sendable {
    /// What a mismatch leads to.
    public enum Mode: Hashable, Sendable {
        /// The call fails.
        case enforce
        /// Observers get `.warned(.pinMismatch)`; the call goes on.
        case reportOnly
    }

    /// Hosts, exact or with `*.` for one label. The first set that names a host exactly counts, else the first pattern.
    public var hosts: [String]
    /// `sha256//` and the digest in Base64, as curl writes pins. Two at least.
    public var keys: [String]
    /// When enforcing and reporting end. Nil means never.
    public var expires: Date?
    /// Default `.enforce`.
    public var mode: Mode

    /// A set that is enforced until it expires.
    public init(hosts: [String], keys: [String], expires: Date? = nil, mode: Mode = .enforce) {
        self.hosts = hosts
        self.keys = keys
        self.expires = expires
        self.mode = mode
    }

    /// The pin of a certificate in PEM or DER form; nil if it is not one.
    public static func key(ofCertificate certificate: Data) -> String? {
        let bytes = CertificateKey.der(fromPEM: certificate) ?? certificate
        return CertificateKey.publicKeyInfo(ofDER: bytes).map {
            prefix + MessageDigest.sha256($0).base64EncodedString()
        }
    }

    private static let prefix = "sha256//"
    private static let warningPeriod: Double = 30 * 86_400
}

extension PinSet {
    /// The time of a set.
    package enum State: Hashable, Sendable {
        case current, endsSoon, ended
    }

    package func state(at date: Date) -> State {
        guard let expires else { return .current }
        if date >= expires { return .ended }
        return date >= expires.addingTimeInterval(-Self.warningPeriod) ? .endsSoon : .current
    }

    /// What a server's key means for a connection made at `date`: what observers hear, and whether it is refused. The
    /// key is nil if the certificate cannot be read; it is not asked for where it does not matter.
    package func verdict(
        on key: () -> String?, host: String, at date: Date
    ) -> (warnings: [TransportWarning], refused: String?) {
        var warnings: [TransportWarning] = []
        switch (state(at: date), expires) {
        case (.ended, let date?): return ([.pinsExpired(host: host, on: date)], nil)
        case (.endsSoon, let date?): warnings.append(.pinsExpireSoon(host: host, on: date))
        default: break
        }
        let found = key() ?? "unreadable"
        if keys.contains(found) { return (warnings, nil) }
        if mode == .enforce { return (warnings, found) }
        return (warnings + [.pinMismatch(host: host, found: found)], nil)
    }

    /// What libcurl takes: all keys in one text.
    package var joinedKeys: String { keys.joined(separator: ";") }

    var problems: [String] {
        let name = "TLSConfiguration.pins"
        var problems: [String] = []
        if hosts.isEmpty { problems.append("\(name): a set names no host.") }
        for host in hosts where HostPattern(host) == nil {
            problems.append("\(name): \"\(host)\" is no host. Write api.example.com or *.example.com.")
        }
        for key in keys where !Self.isPin(key) {
            problems.append("\(name): \"\(key)\" is no pin. Write sha256// and 32 bytes in Base64.")
        }
        if Set(keys).count < 2 {
            problems.append(
                "\(name): the set for \(hosts.first ?? "no host") has no backup key. Add the pin of a second key, kept "
                    + "in a safe place, for the day on which the first one has to be replaced.")
        }
        return problems
    }

    private static func isPin(_ text: String) -> Bool {
        text.begins(with: prefix)
            && Data(base64Encoded: String(Substring(text.utf8.dropFirst(prefix.utf8.count))))?.count == 32
    }
}

extension [PinSet] {
    /// The set for `host`: the first that names it, else the first with a pattern for it.
    package func first(for host: String) -> PinSet? {
        let matching = filter { $0.hosts.contains { HostPattern($0)?.matches(host) ?? false } }
        return matching.first {
            $0.hosts.contains { !$0.begins(with: "*.") && HostPattern($0)?.matches(host) ?? false }
        }
            ?? matching.first
    }
}
