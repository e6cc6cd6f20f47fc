// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore

/// Texts of others are bounded in bytes before they get into an error or a log.
@Suite(.timeLimit(.minutes(1)))
struct ClippingTests {
    @Test("A single Character of a megabyte is clipped like any other text")
    func combiningMarks() {
        let text = "a" + String(repeating: "\u{301}", count: 500_000)
        #expect(text.count == 1)
        #expect(text.clipped(to: 100).utf8.count <= 100 + "…".utf8.count)
        let error = NetworkError(Foreign(description: text))
        #expect(error.description.utf8.count < 5000)
        #expect(error.detail.utf8.count < 2000)
    }

    private struct Foreign: Error, CustomStringConvertible {
        let description: String
    }

    @Test("A text is cut where a scalar ends, and not at all if it fits")
    func scalars() {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        let scalars: [Unicode.Scalar] = ["a", "\u{301}", "é", "€", "\u{1F600}", "\r", "\n", "\u{200D}", "\u{FE0F}"]
        for _ in 0..<2000 {
            var text = ""
            for _ in 0..<Int.random(in: 0...20, using: &random) {
                text.unicodeScalars.append(scalars.randomElement(using: &random) ?? "a")
            }
            let limit = Int.random(in: -1...40, using: &random)
            let clipped = text.clipped(to: limit)
            guard text.utf8.count > max(0, limit) else {
                #expect(clipped.utf8.elementsEqual(text.utf8), "seed \(seed)")
                continue
            }
            let kept = Array(clipped.unicodeScalars.dropLast())
            #expect(clipped.unicodeScalars.last == "…", "seed \(seed)")
            #expect(Array(text.unicodeScalars.prefix(kept.count)) == kept, "seed \(seed)")
            let size = kept.reduce(0) { $0 + String($1).utf8.count }
            let next = text.unicodeScalars.dropFirst(kept.count).first.map { String($0).utf8.count } ?? 0
            #expect(size <= max(0, limit) && size + next > limit, "seed \(seed)")
        }
    }
}
