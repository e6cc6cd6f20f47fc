// SPDX-License-Identifier: MIT

import CurlewFoundation
import CurlewHTTP

/// A reader for consecutive values in DER (Distinguished Encoding Rules, X.690 §10). Never reads beyond its bytes.
struct DERReader {
    struct Value {
        let tag: UInt8
        let content: Data
        /// The content with its tag and length.
        let whole: Data

        /// A reader for the values that `content` contains.
        var values: DERReader { DERReader(content) }
    }

    private var remainder: Data

    init(_ bytes: Data) {
        remainder = bytes
    }

    /// Returns the next value; nil at the end, and if the bytes are not valid DER.
    mutating func next() -> Value? {
        var bytes = remainder
        guard let tag = bytes.popFirst(), var length = bytes.popFirst().map(Int.init) else { return nil }
        if length >= 0x80 {
            // Three length bytes allow 16 MiB, which is more than any certificate needs and fits into 32 bits.
            let count = length & 0x7F
            guard (1...3).contains(count), bytes.count >= count else { return nil }
            length = bytes.prefix(count).reduce(0) { $0 << 8 | Int($1) }
            bytes = bytes.dropFirst(count)
        }
        guard length <= bytes.count else { return nil }
        let content = bytes.prefix(length)
        let whole = remainder[remainder.startIndex..<content.endIndex]
        remainder = bytes.dropFirst(length)
        return Value(tag: tag, content: content, whole: whole)
    }

    /// Returns the next value if it has this tag, otherwise nil. The value is consumed in both cases.
    mutating func next(_ tag: UInt8) -> Value? {
        guard let value = next(), value.tag == tag else { return nil }
        return value
    }
}

/// The tags (X.680 §8.6) that certificates use.
enum DERTag {
    static let octets: UInt8 = 0x04
    static let identifier: UInt8 = 0x06
    static let sequence: UInt8 = 0x30
    static let set: UInt8 = 0x31
    static let utcTime: UInt8 = 0x17
    static let generalizedTime: UInt8 = 0x18
}

/// Converts X.509 certificates to DER form, and computes the pins of their public keys.
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
