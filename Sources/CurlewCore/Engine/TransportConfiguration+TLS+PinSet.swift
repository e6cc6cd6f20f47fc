// SPDX-License-Identifier: MIT

public import CurlewFoundation
import CurlewHTTP

extension TransportConfiguration.TLS {
    /// Pinned public keys: a server must have one of them, in addition to a valid and trusted certificate.
    ///
    ///     TransportConfiguration.TLS.PinSet(
    ///         hosts: ["api.example.com"],
    ///         keys: ["sha256//tbFX…=", "sha256//9pWk…="],     // the one in use, and the next one
    ///         expires: releaseDate.addingTimeInterval(365 * 86_400))
    ///
    /// A pin is the SHA-256 of the certificate's public key (its SubjectPublicKeyInfo), so it remains valid when a
    /// renewal keeps the key. For a server without a pinned key the call fails with
    /// `.secureConnectionFailed(.pinMismatch)`, before any byte of the request is sent, and is never retried. By
    /// default only the server's own certificate is compared. With `scope` `.verifiedChain`, the pin of an authority is
    /// sufficient.
    ///
    /// Pinning locks out users of old releases when the server's key changes. Therefore:
    /// - A set needs at least two keys, one of them a backup whose private key is kept offline. With fewer, every call
    ///   throws `.configuration`.
    /// - After `expires` a set is no longer enforced, and only the usual certificate checks apply, so that old releases
    ///   can still connect. Observers receive `.warned(.pinsExpired)` for each new connection, and
    ///   `.warned(.pinsExpireSoon)` in the 30 days before that date.
    /// - `.reportOnly` reports mismatches to observers and continues the call, for a trial in production.
    public struct PinSet: Hashable, Sendable {
        /// The effect of a mismatch.
        public enum Mode: Hashable, Sendable {
            /// The call fails.
            case enforce
            /// Observers receive `.warned(.pinMismatch)`; the call continues.
            case reportOnly
        }

        /// The keys that are compared with the pins.
        public enum Scope: Hashable, Sendable {
            /// The key of the server's own certificate.
            case serverCertificate
            /// The key of any certificate on the path that the system has verified, from the server's own certificate
            /// to the trusted root (RFC 5280 §6.1). The pin of an authority admits every certificate that this
            /// authority issues for the host, so pin only an authority that you trust with that, such as your own.
            ///
            /// The verified path is compared, not the list that the server presents, which may contain any certificate.
            /// Where several paths are possible, as with cross-signed authorities, the system chooses one by the roots
            /// that it trusts. Pin a key of each possible path.
            ///
            /// `CurlTransport` checks the path of each new connection and resumes no TLS sessions with such hosts. It
            /// needs a libcurl with OpenSSL; with another TLS library every call over TLS throws `.configuration`.
            case verifiedChain
        }

        /// The hosts to which the set applies, exact or with `*.` for one label; at least one. If several sets match a
        /// host, the first one that lists it exactly applies, otherwise the first one with a matching pattern.
        public var hosts: [String]
        /// The pins: `sha256//` followed by the digest in Base64, in curl's format. At least two different ones.
        public var keys: [String]
        /// The keys that are compared with the pins. Default `.serverCertificate`.
        public var scope: Scope
        /// The date after which mismatches are neither enforced nor reported. Nil means never.
        public var expires: Date?
        /// The effect of a mismatch. Default `.enforce`.
        public var mode: Mode

        /// Creates a set. Omitted parameters have the defaults.
        public init(
            hosts: [String], keys: [String], scope: Scope = .serverCertificate, expires: Date? = nil,
            mode: Mode = .enforce
        ) {
            self.hosts = hosts
            self.keys = keys
            self.scope = scope
            self.expires = expires
            self.mode = mode
        }

        /// Returns the pin of the first certificate in PEM text, or of a certificate in DER form; nil if there is none.
        public static func key(ofCertificate certificate: Data) -> String? {
            let bytes = CertificateKey.der(fromPEM: certificate) ?? certificate
            return CertificateFields(bytes).map { CertificateKey.pin(ofKey: $0.publicKey) }
        }

        private static let warningPeriod: Double = 30 * 86_400
    }
}

extension TransportConfiguration.TLS.PinSet {
    /// Returns the pin of a public key. `info` is its DER-encoded SubjectPublicKeyInfo.
    package static func key(ofPublicKey info: Data) -> String {
        CertificateKey.pin(ofKey: info)
    }

    /// Returns the warning that the set has expired at `date`, or expires in less than 30 days; otherwise nil.
    package func warning(for host: String, at date: Date) -> ExchangeEvent.Warning? {
        guard let expires else { return nil }
        if date >= expires { return .pinsExpired(host: host, on: expires) }
        return date >= expires.addingTimeInterval(-Self.warningPeriod) ? .pinsExpireSoon(host: host, on: expires) : nil
    }

    /// Compares a server's keys with the pins, for a connection that is made at `date`. Returns the warnings and, if
    /// the call must fail, the text of `mismatch(in:)`.
    ///
    /// `chain` returns the pin of each certificate on the verified path, the server's own first, and nil for a
    /// certificate that cannot be parsed. It is called only if needed.
    package func verdict(
        on chain: () -> [String?], host: String, at date: Date
    ) -> (warnings: [ExchangeEvent.Warning], refused: String?) {
        let warnings = warning(for: host, at: date).map { [$0] } ?? []
        if case .pinsExpired? = warnings.first { return (warnings, nil) }
        guard let found = mismatch(in: chain()) else { return (warnings, nil) }
        if mode == .enforce { return (warnings, found) }
        return (warnings + [.pinMismatch(host: host, found: found)], nil)
    }

    /// Returns nil if a compared key is pinned, otherwise the pins of the compared keys, at most ten, as text. `chain`
    /// has the pins of the verified path, the server's own first.
    package func mismatch(in chain: [String?]) -> String? {
        let compared = scope == .serverCertificate ? chain.prefix(1) : chain[...]
        if compared.contains(where: { $0.map(keys.contains) ?? false }) { return nil }
        let shown = compared.prefix(ExchangeMetrics.Connection.PeerCertificate.maximumCount).map { $0 ?? "unreadable" }
        return shown.isEmpty ? "unreadable" : shown.joined(separator: ", ")
    }

    /// Returns the error for a server whose keys are not pinned. `found` is the result of `mismatch(in:)`.
    package func refusal(of host: String, found: String) -> NetworkError {
        let detail =
            switch scope {
            case .serverCertificate: "The key of \(host) is \(found), which matches none of its pins."
            case .verifiedChain:
                "No key on the verified path of \(host) matches a pin. The keys are, the server's own first: "
                    + "\(found)."
            }
        return NetworkError(.secureConnectionFailed(.pinMismatch), detail: detail)
    }

    var problems: [String] {
        let name = "TransportConfiguration.TLS.pins"
        var problems: [String] = []
        if hosts.isEmpty { problems.append("\(name): a set has no hosts.") }
        for host in hosts where HostPattern(host) == nil {
            problems.append("\(name): \"\(host)\" is not a host. Write api.example.com or *.example.com.")
        }
        for key in keys where !Self.isPin(key) {
            problems.append("\(name): \"\(key)\" is not a pin. Write sha256// and 32 bytes in Base64.")
        }
        if keys.allSatisfy({ $0 == keys.first }) {
            problems.append(
                "\(name): the set for \(hosts.first ?? "no host") has no backup key. Add the pin of a second key, kept "
                    + "in a safe location, for the replacement of the first one.")
        }
        return problems
    }

    private static func isPin(_ text: String) -> Bool {
        text.begins(with: CertificateKey.pinPrefix)
            && Data(base64Encoded: String(Substring(text.utf8.dropFirst(CertificateKey.pinPrefix.utf8.count))))?.count
                == 32
    }
}

extension [TransportConfiguration.TLS.PinSet] {
    /// Returns the set for `host`: the first that lists it exactly, or else the first with a matching pattern, or else
    /// nil.
    package func first(for host: String) -> TransportConfiguration.TLS.PinSet? {
        let matching = filter { $0.hosts.contains { HostPattern($0)?.matches(host) ?? false } }
        return matching.first {
            $0.hosts.contains { !$0.begins(with: "*.") && HostPattern($0)?.matches(host) ?? false }
        }
            ?? matching.first
    }
}
