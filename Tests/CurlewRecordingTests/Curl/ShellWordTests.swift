// SPDX-License-Identifier: MIT

// Only there can a test start a process.
#if os(Linux) || os(macOS)
import Testing

@testable import CurlewCore
@testable import CurlewRecording

@Suite(.timeLimit(.minutes(2)))
struct ShellWordTests {
    @Test(
        "Words are quoted in the form that every shell reads",
        arguments: [
            ("", "''"), ("a b", "'a b'"), ("it's", "'it'\\''s'"), ("'", "\\'"), ("'\u{301}", "\\''\u{301}'"),
            ("a\\", "'a\\'"), ("a!\nb!", "'a!\nb'\"$(printf '\\041')\""), ("\r\n", "\"$(printf '\\015')\"'\n'"),
            ("\u{1B}\u{9B}x", "\"$(printf '\\033\\302\\233')\"'x'"),
        ])
    func table(text: String, word: String) {
        #expect(ShellWord.quoted(text).map { Array($0.utf8) } == Array(word.utf8))
    }

    @Test("A NUL byte has no word, whatever stands beside it")
    func refused() {
        for text in ["\0", "a\0", "'\0", "\0'", "\0\u{301}", "'\0\u{301}", "\u{600}\0", "\0\n"] {
            #expect(ShellWord.quoted(text) == nil)
        }
    }

    @Test("100,000 random texts come back from each shell byte for byte")
    func random() async throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        var script = "p() { printf '%s\\000' \"$@\"; }\n"
        var expected = Data()
        var texts: [String] = []
        for number in 0..<100_000 {
            // Other tests run beside this one.
            if number % 100 == 0 { await Task.yield() }
            let text = HostileText.make(&random, pieces: 6, rarity: 300)
            guard let word = ShellWord.quoted(text) else {
                Issue.record("seed \(seed): no word for \(String(reflecting: text))")
                continue
            }
            script += "p \(word)\n"
            expected.append(contentsOf: text.utf8)
            expected.append(0)
            texts.append(text)
        }
        for shell in Shell.all {
            let result = try await Shell.run(script, by: shell)
            #expect(result.status == 0 && result.files.isEmpty, "seed \(seed), \(shell)")
            guard result.output != expected else { continue }
            let parts = result.output.split(separator: 0, omittingEmptySubsequences: false)
            let first = zip(parts, texts).first { !$0.elementsEqual($1.utf8) }
            Issue.record("seed \(seed), \(shell), \(parts.count - 1) texts, first: \(String(reflecting: first?.1))")
        }
    }
}
#endif
