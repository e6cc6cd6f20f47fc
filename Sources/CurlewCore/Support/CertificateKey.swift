// SPDX-License-Identifier: MIT

import CurlewFoundation
import CurlewHTTP

/// Extracts the public key of an X.509 certificate (RFC 5280 §4.1) and computes its pin.
enum CertificateKey {
    /// The prefix of every pin, which names the hash function.
    static let pinPrefix = "sha256//"

    /// Returns the pin of a SubjectPublicKeyInfo: the prefix, followed by the SHA-256 digest in Base64.
    static func pin(ofKey info: Data) -> String {
        pinPrefix + MessageDigest.sha256(info).base64EncodedString()
    }

    /// Returns the first certificate in PEM text, converted to DER form; nil if the text contains no certificate.
    static func der(fromPEM bytes: Data) -> Data? {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let begin = text.utf8.firstRange(of: "-----BEGIN CERTIFICATE-----".utf8),
            let end = text.utf8[begin.upperBound...].firstRange(of: "-----END CERTIFICATE-----".utf8)
        else { return nil }
        return Data(base64Encoded: text[begin.upperBound..<end.lowerBound].without { $0 <= 0x20 })
    }

    /// Returns the SubjectPublicKeyInfo of a certificate, with its tag and length; nil if `certificate` cannot be
    /// parsed.
    static func publicKeyInfo(ofDER certificate: Data) -> Data? {
        CertificateFields(certificate)?.publicKey
    }
}

/// The fields of a certificate (RFC 5280 §4.1.2) that Curlew reads, in their encoded form.
struct CertificateFields {
    let issuer: Data
    let validity: DERReader.Value
    let subject: Data
    /// The SubjectPublicKeyInfo, with its tag and length.
    let publicKey: Data
    /// The fields after the public key: the obsolete unique identifiers, and the extensions.
    let remainder: DERReader

    /// Parses a certificate in DER form. Returns nil for bytes that are not a certificate.
    init?(_ certificate: Data) {
        var outer = DERReader(certificate)
        guard let content = outer.next(DERTag.sequence) else { return nil }
        var inner = content.values
        guard let signed = inner.next(DERTag.sequence) else { return nil }
        var fields = signed.values
        // The version is optional. The serial number, algorithm, issuer, period and subject are required.
        guard let first = fields.next() else { return nil }
        if first.tag == 0xA0 { guard fields.next() != nil else { return nil } }
        guard fields.next() != nil, let issuer = fields.next(), let validity = fields.next(),
            let subject = fields.next(), let key = fields.next(DERTag.sequence)
        else { return nil }
        self.issuer = issuer.content
        self.validity = validity
        self.subject = subject.content
        publicKey = key.whole
        remainder = fields
    }
}
