// SPDX-License-Identifier: MIT

import Testing

@testable import Storyteller

@Suite(.timeLimit(.minutes(1)))
struct TypewriterTests {
    private static func outputs(_ pieces: [String], isLive: Bool, width: Int = 10) -> [String] {
        var page = Typewriter(isLive: isLive, width: width)
        return pieces.map { page.add($0) } + [page.end()]
    }

    @Test("In a pipe only whole lines appear")
    func lines() {
        let outputs = Self.outputs(["one t", "wo three", " four"], isLive: false)
        #expect(outputs == ["", "", "    one two\n", "    three four\n"])
    }

    @Test("In a terminal each word appears when it is complete")
    func words() {
        let outputs = Self.outputs(["one t", "wo three", " four"], isLive: true)
        #expect(outputs == ["    one", " two", "\n    three", " four\n"])
    }

    @Test("Both give the same text, however it is cut", arguments: 1...7)
    func cuts(size: Int) {
        let text = "A story\nof  two lines, with a veryveryverylongword, ✓ and é.\n\nThe end"
        let characters = Array(text)
        let pieces = stride(from: 0, to: characters.count, by: size).map {
            String(characters[$0..<min($0 + size, characters.count)])
        }
        let whole = Self.outputs([text], isLive: false).joined()
        #expect(Self.outputs(pieces, isLive: false).joined() == whole)
        #expect(Self.outputs(pieces, isLive: true).joined() == whole)
        #expect(whole.split(separator: "\n").allSatisfy { $0.count <= 14 && $0.hasPrefix("    ") })
        #expect(whole.contains("veryveryve\n    rylongword"))
    }

    @Test("A model cannot control the terminal")
    func controls() {
        let outputs = Self.outputs(["a\u{1B}[2Jb\u{7}\u{202E}c\r", "d 👩‍👧"], isLive: true, width: 20)
        #expect(outputs.joined() == "    a[2Jbc\n    d 👩‍👧\n")
    }

    @Test("Nothing gives nothing")
    func empty() {
        #expect(Self.outputs(["", "  "], isLive: true) == ["", "", ""])
    }
}
