// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewTransfers

@Suite(.timeLimit(.minutes(1)))
struct DigestFieldTests {
    private static let sha256 = "X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE="

    @Test(
        "Values of RFC 9530 and malformed neighbours are read or refused",
        arguments: [
            ("sha-256=:\(sha256):", true), (" sha-256=:\(sha256):  ", true),
            ("sha-256=:\(sha256):, unixsum=30637", true), ("md5=:AAAA:,\tsha-256=:\(sha256):;p=1;q", true),
            ("a, b=?1, c=\"x,\\\"y\", d=(1 \"a)\" t/k;p=2), e=-1.5, f=@12, sha-256=:\(sha256):", true),
            ("sha-256=:AAAA:, sha-256=:\(sha256):", true), ("sha-256=:\(sha256.dropLast()):", true),
            ("", false), ("  ", false), ("sha-1=:AAAA:", false), ("a", false), ("SHA", nil), ("sha-256", nil),
            ("sha-256=1", nil), ("sha-256=\"\(sha256)\"", nil), ("sha-256=\(sha256)", nil), ("sha-256=:\(sha256)", nil),
            ("sha-256=(:\(sha256):)", nil), ("sha-256=:\(sha256):,", nil), ("sha-256=:\(sha256): x", nil),
            ("sha-256= :\(sha256):", nil), ("sha-256=:A*AA:", nil), ("sha-256=:A=AA:", nil), ("sha-256=:A:", nil),
            (",sha-256=:\(sha256):", nil), ("SHA-256=:\(sha256):", nil), ("a=\"é\", sha-256=:\(sha256):", nil),
            ("a=\"\\x\"", nil), ("a=(1", nil), ("a=(1\"b\")", nil), ("a;=1", nil), ("a;b=", nil), ("a=", nil),
        ] as [(String, Bool?)])
    func values(text: String, hasDigest: Bool?) {
        let field = DigestField(text)
        #expect((field != nil) == (hasDigest != nil))
        #expect(field?.strongest?.digest == (hasDigest == true ? Data(base64Encoded: Self.sha256) : nil))
        #expect(field?.strongest?.algorithm != .sha512)
    }

    @Test("The strongest algorithm counts")
    func strongest() throws {
        #expect(DigestField("sha-256=:AQID:")?.strongest?.algorithm == .sha256)
        let both = try #require(DigestField("sha-512=:BAUG:, sha-256=:AQID:"))
        #expect(both.strongest?.algorithm == .sha512)
        #expect(both.strongest?.digest == Data([4, 5, 6]))
        #expect(DigestField("md5=:AAAA:")?.strongest == nil)
        // A truncated digest stays, so that it fails the comparison instead of switching the check off.
        #expect(both.strongest?.digest.count == 3)
    }

    @Test("Any text is read, and every digest survives", arguments: 1...100)
    func fuzz(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let text = random.text(upTo: 20)
            _ = DigestField(text)
            _ = DigestField("sha-256=:\(text):, a=\(text)")
            let digest = Data(random.bytes(upTo: 70))
            let field = DigestField("a=\"b\";c=d, sha-512=:\(digest.base64EncodedString()):")
            #expect(field?.strongest?.digest == digest, "seed \(seed)")
        }
    }
}
