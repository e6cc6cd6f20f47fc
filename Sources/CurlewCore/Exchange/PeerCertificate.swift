// SPDX-License-Identifier: MIT

public import CurlewFoundation

extension ExchangeMetrics.Connection {
    /// The content of a certificate that a server presented.
    ///
    /// It helps to find the cause of `.secureConnectionFailed`. Do not trust the content: it may not have been
    /// verified. All strings are limited in length, and control characters and bidirectional formatting characters in
    /// them are escaped.
    public struct PeerCertificate: Hashable, Sendable {
        /// The subject, in the form of RFC 4514: `CN=api.example.com,O=Example`. At most 200 Unicode scalars before
        /// escaping. Empty in certificates that only have `names`.
        public let subject: String
        /// The issuer, in the same form and with the same limit as `subject`.
        public let issuer: String
        /// The first ten DNS names and IP addresses of the subject (RFC 5280 §4.2.1.6), at most 100 Unicode scalars
        /// each.
        public let names: [String]
        /// The first moment of validity; nil if it is not in the form that RFC 5280 §4.1.2.5 prescribes.
        public let notBefore: Date?
        /// The last moment of validity; nil if it is not in the form that RFC 5280 §4.1.2.5 prescribes.
        public let notAfter: Date?
        /// The SHA-256 digest of the public key, in the form of `TransportConfiguration.TLS.PinSet.keys`: `sha256//`,
        /// then Base64.
        public let pin: String

        /// Parses a certificate in PEM or DER form. Returns nil if the bytes are not a certificate, or if the
        /// certificate has more than 64 KiB in DER form.
        package init?(_ certificate: Data) {
            guard certificate.count <= Self.maximumSize * 2 else { return nil }
            let bytes = CertificateKey.der(fromPEM: certificate) ?? certificate
            guard bytes.count <= Self.maximumSize, let fields = CertificateFields(bytes) else { return nil }
            subject = CertificateName.text(ofName: fields.subject, limit: 200)
            issuer = CertificateName.text(ofName: fields.issuer, limit: 200)
            names = CertificateName.subjectNames(in: fields, count: 10, limit: 100)
            var period = fields.validity.values
            notBefore = period.next().flatMap(CertificateName.date)
            notAfter = period.next().flatMap(CertificateName.date)
            pin = CertificateKey.pin(ofKey: fields.publicKey)
        }

        /// The maximum number of certificates that are read from a chain.
        package static let maximumCount = 10
        /// The maximum size of a certificate in DER form, in bytes.
        package static let maximumSize = 64 << 10

        /// Parses the first ten certificates of a chain, which begins with the server's own certificate. Certificates
        /// that cannot be parsed are omitted.
        package static func list(_ chain: some Sequence<Data>) -> [PeerCertificate] {
            chain.prefix(maximumCount).compactMap(PeerCertificate.init)
        }
    }
}

extension ExchangeMetrics.Connection.PeerCertificate: CustomStringConvertible {
    /// One line: the subject, the names, the issuer, the period of validity and the pin.
    public var description: String {
        func shown(_ date: Date?) -> String { date?.formatted(.iso8601) ?? "an unknown time" }
        let owner = subject.isEmpty ? "no subject" : subject
        let purpose = names.isEmpty ? "" : " for \(names.joined(separator: ", "))"
        let signer = issuer.isEmpty ? "nobody" : issuer == subject ? "itself" : issuer
        return "\(owner)\(purpose); issued by \(signer); valid from \(shown(notBefore)) to \(shown(notAfter)); \(pin)"
    }
}
