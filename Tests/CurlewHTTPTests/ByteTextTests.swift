// SPDX-License-Identifier: MIT

import Testing

@Suite(.timeLimit(.minutes(1)))
struct ByteTextTests {
    @Test("The first byte found is that of the bytes in their order, however the text is stored")
    func firstByte() {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        for count in 0..<200 {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0x20...0x7E, using: &random) }
            let plain = String(decoding: bytes, as: UTF8.self)
            for text in [plain, plain + "é", String((plain + "x").dropLast()), String(NSString(string: plain))] {
                let wanted = UInt8.random(in: 0x20...0x7E, using: &random)
                var seen: [UInt8] = []
                let found = text.firstByte { byte in
                    seen.append(byte)
                    return byte == wanted
                }
                #expect(found == text.utf8.first { $0 == wanted }, "seed \(seed), \(count) bytes")
                #expect(seen.elementsEqual(text.utf8.prefix(seen.count)), "seed \(seed), \(count) bytes")
            }
        }
        #expect("".firstByte { _ in true } == nil)
    }
}
