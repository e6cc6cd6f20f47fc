// SPDX-License-Identifier: MIT

import Testing

@Suite(.timeLimit(.minutes(1)))
struct MessageDigestIncrementalTests {
    @Test(
        "The examples of FIPS 180, in pieces of every kind",
        arguments: [
            (
                "", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
                "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce"
                    + "47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e"
            ),
            (
                "abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
                "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                    + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
            ),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
                "204a8fc6dda82f0a0ced7beb8e08a41657c16ef468b228a8279be331a703c335"
                    + "96fd15c13b1b07f9aa1d3bea57789ca031ad85c7a71dd70354ec631238ca3445"
            ),
            (
                "a", 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
                "e718483d0ce769644e2e42c7bc15b4638e1f98b13b2044285632a803afa973eb"
                    + "de0ff244877ea60a4cb0432ce577c31beb009c5c2c49aa2e4eadb217ad8cc09b"
            ),
        ] as [(String, Int, String, String)])
    func vectors(text: String, count: Int, sha256: String, sha512: String) {
        let bytes = Data(String(repeating: text, count: count).utf8)
        for piece in [1, 63, 64, 127, 128, 65_536, 1_000_001] where count / piece < 100_000 {
            for (bits, expected) in [(256, sha256), (512, sha512)] {
                let digest = MessageDigest.sha2(bits) { add in
                    for start in stride(from: 0, to: bytes.count, by: piece) {
                        bytes[start..<min(start + piece, bytes.count)].withUnsafeBytes(add)
                    }
                }
                #expect(digest.hexText == expected)
            }
        }
    }

    @Test("Pieces have the digest of the whole", arguments: 1...30)
    func pieces(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let pieces = (0..<20).map { _ in Data(random.bytes(upTo: 300)) }
        let digest = MessageDigest.sha2(256) { add in
            for piece in pieces { piece.withUnsafeBytes(add) }
        }
        #expect(digest == MessageDigest.sha256(Data(pieces.joined())), "seed \(seed)")
    }

    @Test("An error of the source ends a digest")
    func failing() {
        #expect(throws: CancellationError.self) {
            try MessageDigest.sha2(512) { add in
                Data([1]).withUnsafeBytes(add)
                throw CancellationError()
            }
        }
    }
}
