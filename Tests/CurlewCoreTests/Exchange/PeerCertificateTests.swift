// SPDX-License-Identifier: MIT

import CurlewAuthentication
import Testing

@testable import CurlewCore

private typealias PeerCertificate = ExchangeMetrics.Connection.PeerCertificate

/// Certificates as errors show them, made manually: their contents are untrusted.
@Suite(.timeLimit(.minutes(1)))
struct PeerCertificateTests {
    /// One value of the Distinguished Encoding Rules.
    static func der(_ tag: UInt8, _ content: [UInt8]...) -> [UInt8] {
        let content = content.flatMap { $0 }
        var length = [UInt8(truncatingIfNeeded: content.count)]
        if content.count > 0x7F {
            let bytes = (0..<3).map { UInt8(truncatingIfNeeded: content.count >> (16 - 8 * $0)) }.drop { $0 == 0 }
            length = [0x80 | UInt8(bytes.count)] + bytes
        }
        return [tag] + length + content
    }

    static let commonName: [UInt8] = [0x55, 0x04, 0x03]

    /// A distinguished name of parts with one attribute each: type, tag and bytes.
    static func name(_ parts: ([UInt8], UInt8, [UInt8])...) -> [UInt8] {
        der(0x30, parts.flatMap { der(0x31, der(0x30, der(0x06, $0.0), der($0.1, $0.2))) })
    }

    static func time(_ text: String, _ tag: UInt8 = 0x17) -> [UInt8] { der(tag, Array(text.utf8)) }

    static let key = der(0x30, der(0x30, [0x06, 0x01, 0x2A]), der(0x03, [0, 1, 2, 3]))

    static func certificate(
        subject: [UInt8] = name((commonName, 0x0C, Array("a".utf8))),
        issuer: [UInt8] = name((commonName, 0x0C, Array("b".utf8))),
        from: [UInt8] = time("200101000000Z"), to: [UInt8] = time("300101000000Z"), names: [UInt8]? = nil,
        hasVersion: Bool = true
    ) -> Data {
        let alternative = names.map { der(0x30, der(0x06, [0x55, 0x1D, 0x11]), der(0x04, der(0x30, $0))) } ?? []
        let other = der(0x30, der(0x06, [0x55, 0x1D, 0x13]), der(0x01, [0xFF]), der(0x04, der(0x30)))
        let fields = [
            hasVersion ? der(0xA0, der(0x02, [2])) : [], der(0x02, [1]), der(0x30, [0x06, 0x01, 0x2A]), issuer,
            der(0x30, from, to), subject, key, der(0xA3, der(0x30, other, alternative)),
        ]
        return Data(der(0x30, der(0x30, fields.flatMap { $0 }), der(0x30, [0x06, 0x01, 0x2A]), der(0x03, [0, 1])))
    }

    static func read(
        subject: [UInt8], sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> String {
        try #require(PeerCertificate(certificate(subject: subject)), sourceLocation: sourceLocation).subject
    }

    @Test(
        "A certificate's fields are read, with and without a version, from DER and from PEM", arguments: [true, false])
    func fields(hasVersion: Bool) throws {
        let names =
            Self.der(0x82, Array("a.example".utf8)) + Self.der(0x81, Array("mail@a.example".utf8))
            + Self.der(0x87, [127, 0, 0, 1]) + Self.der(0x87, [UInt8](repeating: 0, count: 15) + [1])
            + Self.der(0x87, [1, 2, 3])
        let data = Self.certificate(names: names, hasVersion: hasVersion)
        let text = "-----BEGIN CERTIFICATE-----\n\(data.base64EncodedString())\n-----END CERTIFICATE-----\n"
        for form in [data, Data(text.utf8)] {
            let certificate = try #require(PeerCertificate(form))
            #expect(certificate.subject == "CN=a" && certificate.issuer == "CN=b")
            #expect(certificate.names == ["a.example", "127.0.0.1", "::1"])
            #expect(certificate.notBefore == Date(timeIntervalSince1970: 1_577_836_800))
            #expect(certificate.notAfter == Date(timeIntervalSince1970: 1_893_456_000))
            let digest = MessageDigest.sha256(Data(Self.key)).base64EncodedString()
            #expect(certificate.pin == "sha256//" + digest)
            #expect(certificate.pin == TransportConfiguration.TLS.PinSet.key(ofCertificate: form))
            #expect(
                certificate.description
                    == "CN=a for a.example, 127.0.0.1, ::1; issued by CN=b; valid from 2020-01-01T00:00:00Z to "
                    + "2030-01-01T00:00:00Z; \(certificate.pin)")
        }
    }

    @Test(
        "Values in UTF-8 and ASCII become text, others hexadecimal digits",
        arguments: [
            (0x0C, Array("Zoë".utf8), "CN=Zoë"), (0x13, Array("plain".utf8), "CN=plain"),
            (0x16, Array("ia5".utf8), "CN=ia5"), (0x14, [0x5A, 0x6F, 0xEB], "CN=#14035a6feb"),
            (0x1E, [0x00, 0x5A, 0x20, 0xAC], "CN=#1e04005a20ac"), (0x0C, [0xFF, 0x41], "CN=\u{FFFD}A"),
            (0x04, [0xAB, 0x01], "CN=#0402ab01"), (0x0C, [], "CN="),
        ] as [(UInt8, [UInt8], String)])
    func encodings(tag: UInt8, bytes: [UInt8], expected: String) throws {
        #expect(try Self.read(subject: Self.name((Self.commonName, tag, bytes))) == expected)
    }

    @Test(
        "No value looks like several, begins a line, or turns the writing direction",
        arguments: [
            ("a,O=Bank", "CN=a\\,O\\=Bank"), ("a+b;c", "CN=a\\+b\\;c"), ("<\"\\>", "CN=\\<\\\"\\\\\\>"),
            (" a ", "CN=\\ a\\ "), ("#1", "CN=\\#1"), ("a\nb", "CN=a\\nb"), ("\u{1B}[2J", "CN=\\u{1B}[2J"),
            ("\u{202E}moc", "CN=\\u{202E}moc"), ("a\u{0}b", "CN=a\\0b"), ("a,\u{301}b", "CN=a\\,\u{301}b"),
        ])
    func escapes(value: String, expected: String) throws {
        #expect(try Self.read(subject: Self.name((Self.commonName, 0x0C, Array(value.utf8)))) == expected)
    }

    @Test("A name begins with its most specific part, with short names of types or numbers")
    func order() throws {
        let subject = Self.name(
            ([0x55, 0x04, 0x06], 0x13, Array("DE".utf8)), ([0x55, 0x04, 0x0A], 0x0C, Array("Example".utf8)),
            ([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x01], 0x16, Array("a".utf8)),
            ([0x09, 0x92, 0x26, 0x89, 0x93, 0xF2, 0x2C, 0x64, 0x01, 0x19], 0x16, Array("example".utf8)),
            (Self.commonName, 0x0C, Array("a".utf8)))
        #expect(try Self.read(subject: subject) == "CN=a,DC=example,1.2.840.113549.1.9.1=a,O=Example,C=DE")
        let double = Self.der(
            0x30,
            Self.der(
                0x31, Self.der(0x30, Self.der(0x06, Self.commonName), Self.der(0x0C, [0x61])),
                Self.der(0x30, Self.der(0x06, [0x55, 0x04, 0x0A]), Self.der(0x0C, [0x62]))))
        #expect(try Self.read(subject: double) == "CN=a+O=b")
        #expect(try Self.read(subject: Self.der(0x30)).isEmpty)
        // An identifier whose numbers do not fit, one without an end, and none.
        for type in [[0x2A] + [UInt8](repeating: 0xFF, count: 20), [0x2A, 0x86], []] as [[UInt8]] {
            let text = try Self.read(subject: Self.name((type, 0x0C, [0x61])))
            #expect(["?=a", "1.2=a"].contains(text), "\(text)")
        }
    }

    @Test("Texts and their number are bounded, however large a certificate is")
    func bounds() throws {
        let long = [UInt8](repeating: 0x61, count: 10_000)
        let accents = Array(("a" + String(repeating: "\u{301}", count: 5000)).utf8)
        for value in [long, accents] {
            let subject = try Self.read(subject: Self.name((Self.commonName, 0x0C, value)))
            #expect(subject.unicodeScalars.count == 201 && subject.unicodeScalars.last == "…")
        }
        let parts = (0..<100).flatMap { _ in
            Self.der(0x31, Self.der(0x30, Self.der(0x06, Self.commonName), Self.der(0x0C, [0x61])))
        }
        #expect(try Self.read(subject: Self.der(0x30, parts)).utf8.count <= 204)
        let names = (0..<500).flatMap { _ in Self.der(0x82, [UInt8](repeating: 0x61, count: 120)) }
        let certificate = try #require(PeerCertificate(Self.certificate(names: names)))
        #expect(certificate.names == [String](repeating: String(repeating: "a", count: 100) + "…", count: 10))
        // More than 64 KiB are not read at all.
        let huge = Self.name((Self.commonName, 0x0C, [UInt8](repeating: 0x61, count: 70_000)))
        #expect(PeerCertificate(Self.certificate(subject: huge)) == nil)
        #expect(PeerCertificate.list([Self.certificate(subject: huge), Self.certificate()]).count == 1)
        #expect(PeerCertificate.list([Data](repeating: Self.certificate(), count: 30)).count == 10)
    }

    @Test(
        "Times have the form that RFC 5280 §4.1.2.5 prescribes, or are unknown",
        arguments: [
            ("491231235959Z", 0x17, 2_524_607_999), ("500101000000Z", 0x17, -631_152_000),
            ("20500101000000Z", 0x18, 2_524_608_000), ("99991231235959Z", 0x18, 253_402_300_799),
            ("200101000000", 0x17, nil), ("200101000000+0100", 0x17, nil), ("2001010000Z", 0x17, nil),
            ("20200101000000Z", 0x17, nil), ("200101000000Z", 0x18, nil), ("20200101000000.5Z", 0x18, nil),
            ("201301000000Z", 0x17, nil), ("200230000000Z", 0x17, nil), ("2001010000-1Z", 0x17, nil), ("Z", 0x17, nil),
            ("", 0x17, nil), ("200101000000Z", 0x04, nil),
        ] as [(String, UInt8, Double?)])
    func times(text: String, tag: UInt8, seconds: Double?) throws {
        let time = Self.time(text, tag)
        let expected = seconds.map { Date(timeIntervalSince1970: $0) }
        let first = try #require(PeerCertificate(Self.certificate(from: time)))
        #expect(first.notBefore == expected && first.notAfter != nil)
        let last = try #require(PeerCertificate(Self.certificate(to: time)))
        #expect(last.notAfter == expected && last.notBefore != nil)
        if expected == nil { #expect("\(last)".contains("to an unknown time")) }
    }

    @Test("Bytes that are no certificate are refused, and none are read beyond their end")
    func broken() {
        let names = Self.der(0x82, Array("a.example".utf8)) + Self.der(0x87, [127, 0, 0, 1])
        let whole = Self.certificate(names: names)
        for length in 0..<whole.count { #expect(PeerCertificate(whole.prefix(length)) == nil) }
        // A slice keeps the indices of its whole.
        #expect(PeerCertificate((Data([1, 2, 3]) + whole).dropFirst(3)) == PeerCertificate(whole))
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<4_000 {
            var bytes = whole
            for _ in 0...Int.random(in: 0..<3, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            guard let certificate = PeerCertificate(bytes) else { continue }
            let text = certificate.description
            #expect(text.utf8.count < 20_000 && text == text.printable, "seed \(seed)")
            #expect(certificate.pin == TransportConfiguration.TLS.PinSet.key(ofCertificate: bytes), "seed \(seed)")
        }
        for _ in 0..<500 { _ = PeerCertificate(Data(random.bytes(upTo: 300))) }
    }
}
