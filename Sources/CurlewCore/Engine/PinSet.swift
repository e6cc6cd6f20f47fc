// SPDX-License-Identifier: MIT

import CurlewHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Public keys of which a server has to prove one, besides having a valid and trusted certificate.
///
///     PinSet(
///         hosts: ["api.example.com"],
///         keys: ["sha256//tbFX…=", "sha256//9pWk…="],     // the one in use, and the next one
///         expires: releaseDate.addingTimeInterval(365 * 86_400))
///
/// A pin is the SHA-256 of the certificate's public key (its SubjectPublicKeyInfo), so that it outlives renewals that
/// keep the key. A server without a pinned key ends the call with `.secureConnectionFailed(.pinMismatch)`, which is
/// never retried, before a byte of the request has left.
///
/// By default only the server's own certificate counts. With `scope` `.verifiedChain` the pin of an authority will do:
///
///     PinSet(
///         hosts: ["*.example.com"],
///         keys: [ourIntermediate, ourRoot, theNextRoot],
///         scope: .verifiedChain)
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

    /// Whose keys are compared with the pins.
    public enum Scope: Hashable, Sendable {
        /// The key of the server's own certificate.
        case serverCertificate
        /// The key of any certificate on the path that the system has built and verified, from the server's own
        /// certificate to the trusted root (RFC 5280 §6.1). The pin of an authority admits every certificate that this
        /// authority issues for the host, so pin one that you trust with that: your own, or one that checks names well.
        ///
        /// The path is what counts, not what the server presents: a server can present any certificate beside its
        /// own. Where several paths are possible, as with cross-signed authorities, the system chooses one of them, by
        /// the roots that it trusts: pin keys of each.
        ///
        /// The engine on Linux looks at the path of each new connection and resumes no TLS sessions with such hosts.
        /// It needs a libcurl that uses OpenSSL; with another one every call throws `.configuration`.
        case verifiedChain
    }

    /// Hosts, exact or with `*.` for one label. The first set that names a host exactly counts, else the first pattern.
    public var hosts: [String]
    /// `sha256//` and the digest in Base64, as curl writes pins. Two at least.
    public var keys: [String]
    /// Default `.serverCertificate`.
    public var scope: Scope
    /// When enforcing and reporting end. Nil means never.
    public var expires: Date?
    /// Default `.enforce`.
    public var mode: Mode

    /// A set that is enforced until it expires.
    public init(
        hosts: [String], keys: [String], scope: Scope = .serverCertificate, expires: Date? = nil, mode: Mode = .enforce
    ) {
        self.hosts = hosts
        self.keys = keys
        self.scope = scope
        self.expires = expires
        self.mode = mode
    }

    /// The pin of a certificate in PEM or DER form; nil if it is not one.
    public static func key(ofCertificate certificate: Data) -> String? {
        let bytes = CertificateKey.der(fromPEM: certificate) ?? certificate
        return CertificateKey.publicKeyInfo(ofDER: bytes).map(CertificateKey.pin)
    }

    private static let warningPeriod: Double = 30 * 86_400
}

extension PinSet {
    /// The pin of a SubjectPublicKeyInfo.
    package static func key(ofPublicKey info: Data) -> String {
        CertificateKey.pin(ofKey: info)
    }

    /// The time of a set.
    package enum State: Hashable, Sendable {
        case current, endsSoon, ended
    }

    package func state(at date: Date) -> State {
        guard let expires else { return .current }
        if date >= expires { return .ended }
        return date >= expires.addingTimeInterval(-Self.warningPeriod) ? .endsSoon : .current
    }

    /// What a server's keys mean for a connection made at `date`: what observers hear, and what is refused.
    ///
    /// `chain` has the pin of each certificate on the verified path, the server's own first, and nil for a certificate
    /// that cannot be read. It is not asked for where it does not matter.
    package func verdict(
        on chain: () -> [String?], host: String, at date: Date
    ) -> (warnings: [TransportWarning], refused: String?) {
        var warnings: [TransportWarning] = []
        switch (state(at: date), expires) {
        case (.ended, let date?): return ([.pinsExpired(host: host, on: date)], nil)
        case (.endsSoon, let date?): warnings.append(.pinsExpireSoon(host: host, on: date))
        default: break
        }
        guard let found = mismatch(in: chain()) else { return (warnings, nil) }
        if mode == .enforce { return (warnings, found) }
        return (warnings + [.pinMismatch(host: host, found: found)], nil)
    }

    /// Nil if a key that counts is pinned, else the keys that count, at most ten, for people. `chain` is as in `verdict`.
    package func mismatch(in chain: [String?]) -> String? {
        let judged = scope == .serverCertificate ? chain.prefix(1) : chain[...]
        if judged.contains(where: { $0.map(keys.contains) ?? false }) { return nil }
        let shown = judged.prefix(PeerCertificate.most).map { $0 ?? "unreadable" }
        return shown.isEmpty ? "unreadable" : shown.joined(separator: ", ")
    }

    /// The error for a server whose keys are not pinned; `found` is what `mismatch` says.
    package func refusal(of host: String, found: String) -> NetworkError {
        let detail =
            switch scope {
            case .serverCertificate: "The key of \(host) is \(found), which is not among its pins."
            case .verifiedChain:
                "None of the keys on the verified path of \(host) is among its pins. They are, the server's own first: "
                    + "\(found)."
            }
        return NetworkError(.secureConnectionFailed(.pinMismatch), detail: detail)
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
        text.begins(with: CertificateKey.pinPrefix)
            && Data(base64Encoded: String(Substring(text.utf8.dropFirst(CertificateKey.pinPrefix.utf8.count))))?.count
                == 32
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
