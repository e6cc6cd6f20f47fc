// SPDX-License-Identifier: MIT

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A certificate that a server has presented, in the words of the certificate itself.
///
/// It is for people who look for the cause of `.secureConnectionFailed`: nobody has verified that what it says is true.
/// All texts are bounded, and control characters and marks of writing direction in them are escaped.
public struct PeerCertificate: Hashable, Sendable {
    /// Whom it belongs to, in the form of RFC 4514: `CN=api.example.com,O=Example`. At most 200 characters before
    /// escaping; empty in certificates that only have `names`.
    public let subject: String
    /// Who has signed it, in the same form.
    public let issuer: String
    /// The DNS names and addresses that it is for (RFC 5280 §4.2.1.6): the first ten, at most 100 characters each.
    public let names: [String]
    /// When it begins to be valid; nil if the certificate does not say it in the prescribed form.
    public let notBefore: Date?
    /// The last moment at which it is valid; nil if the certificate does not say it in the prescribed form.
    public let notAfter: Date?
    /// Its public key in the form of `PinSet.keys`: `sha256//` and the digest in Base64.
    public let pin: String

    /// Reads a certificate in PEM or DER form; nil if it is not one, or has more than 64 KiB.
    public init?(_ certificate: Data) {
        guard certificate.count <= Self.largest * 2 else { return nil }
        let bytes = CertificateKey.der(fromPEM: certificate) ?? certificate
        guard bytes.count <= Self.largest, let fields = CertificateFields(bytes) else { return nil }
        subject = CertificateName.text(ofName: fields.subject, limit: 200)
        issuer = CertificateName.text(ofName: fields.issuer, limit: 200)
        names = CertificateName.subjectNames(in: fields, count: 10, limit: 100)
        var period = fields.validity.values
        notBefore = period.next().flatMap(CertificateName.date)
        notAfter = period.next().flatMap(CertificateName.date)
        pin = CertificateKey.pin(ofKey: fields.publicKey)
    }

    /// How many of a chain are shown.
    package static let most = 10
    /// The largest certificate that is read, in bytes.
    package static let largest = 64 << 10

    /// The certificates of a chain in DER form, the server's own first: the first ten. What cannot be read is left out.
    package static func list(_ chain: some Sequence<Data>) -> [PeerCertificate] {
        chain.prefix(most).compactMap(PeerCertificate.init)
    }
}

extension PeerCertificate: CustomStringConvertible {
    /// One line: subject, names, issuer, validity and pin.
    public var description: String {
        func shown(_ date: Date?) -> String { date?.formatted(.iso8601) ?? "an unknown time" }
        let owner = subject.isEmpty ? "no subject" : subject
        let purpose = names.isEmpty ? "" : " for \(names.joined(separator: ", "))"
        let signer = issuer.isEmpty ? "nobody" : issuer == subject ? "itself" : issuer
        return "\(owner)\(purpose); issued by \(signer); valid from \(shown(notBefore)) to \(shown(notAfter)); \(pin)"
    }
}
