// SPDX-License-Identifier: MIT

import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Finds the public key inside an X.509 certificate (RFC 5280 §4.1), which is what pins are made of.
enum CertificateKey {
    /// The first certificate of a PEM text.
    static func der(fromPEM bytes: Data) -> Data? {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let begin = text.utf8.firstRange(of: "-----BEGIN CERTIFICATE-----".utf8),
            let end = text.utf8[begin.upperBound...].firstRange(of: "-----END CERTIFICATE-----".utf8)
        else { return nil }
        return Data(base64Encoded: text[begin.upperBound..<end.lowerBound].without { $0 <= 0x20 })
    }

    /// The SubjectPublicKeyInfo, with its own tag and length.
    static func publicKeyInfo(ofDER certificate: Data) -> Data? {
        var outer = DERReader(certificate)
        guard let sequence = outer.next(), sequence.tag == 0x30 else { return nil }
        var inner = DERReader(sequence.content)
        guard let signed = inner.next(), signed.tag == 0x30 else { return nil }
        var fields = DERReader(signed.content)
        // The version is optional; serial number, algorithm, issuer, period and subject are not.
        guard let first = fields.next() else { return nil }
        for _ in 0..<(first.tag == 0xA0 ? 5 : 4) { guard fields.next() != nil else { return nil } }
        guard let key = fields.next(), key.tag == 0x30 else { return nil }
        return key.whole
    }
}

/// Reads values of the Distinguished Encoding Rules one after the other, and never beyond the bytes that are there.
private struct DERReader {
    struct Value {
        let tag: UInt8
        let content: Data
        let whole: Data
    }

    private var rest: Data

    init(_ bytes: Data) {
        rest = bytes
    }

    mutating func next() -> Value? {
        var bytes = rest
        guard let tag = bytes.popFirst(), var length = bytes.popFirst().map(Int.init) else { return nil }
        if length >= 0x80 {
            let count = length & 0x7F
            guard (1...4).contains(count), bytes.count >= count else { return nil }
            length = bytes.prefix(count).reduce(0) { $0 << 8 | Int($1) }
            bytes = bytes.dropFirst(count)
        }
        guard length <= bytes.count else { return nil }
        let content = bytes.prefix(length)
        let whole = rest[rest.startIndex..<content.endIndex]
        rest = bytes.dropFirst(length)
        return Value(tag: tag, content: content, whole: whole)
    }
}
