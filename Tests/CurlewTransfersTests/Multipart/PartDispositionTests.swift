// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewTransfers

@Suite(.timeLimit(.minutes(1)))
struct PartDispositionTests {
    @Test(
        "A backslash is sent as it is, where no receiver takes it for an escape",
        arguments: [
            (#"a\b.txt"#, #"a\b.txt"#), (#"a\\b"#, #"a%5C\b"#), (#"a\"#, "a%5C"), (#"\\"#, "%5C%5C"),
        ])
    func backslashes(name: String, written: String) {
        #expect(PartDisposition.formData(name: name, fileName: nil) == "form-data; name=\"\(written)\"")
    }

    @Test("A written disposition has no control characters, and an attachment only ASCII")
    func controlCharacters() {
        let seed = UInt64.random(in: 0...(.max))
        print("PartDispositionTests seed \(seed)")
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2000 {
            let text = random.text(upTo: 20)
            let written = PartDisposition.formData(name: text, fileName: "f\(text)")
            #expect(written.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }, "seed \(seed)")
            let attached = PartDisposition.attachment(fileName: "f\(text)")
            #expect(attached.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F && $0 != 0x5C }, "seed \(seed)")
        }
    }
}
