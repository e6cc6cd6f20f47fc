// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting
import Testing

@testable import CurlewCommand

@Suite(.timeLimit(.minutes(1)))
struct ProgressLineTests {
    private static let half = TransferProgress(completed: 500_000, total: 1_000_000, bytesPerSecond: 100_000)

    @Test func theLineHasWhatFits() {
        let facts = "50 %, 500 kB of 1 MB, 100 kB/s, 5 s left"
        #expect("\(Self.half)" == facts)
        let line = ProgressLine(title: "a.bin", isUnicode: true, style: .plain)
        #expect(line.text(Self.half, columns: 71) == "a.bin [██████████▌          ] \(facts)")
        #expect(line.text(Self.half, columns: 50) == "a.bin \(facts)")
        #expect(line.text(Self.half, columns: 20) == "a.bin 50 %, 500 kB ")
        #expect(line.text(Self.half, columns: -5) == "a.bin 50 %, 500 kB ")
        let plain = ProgressLine(title: "a.bin", isUnicode: false, style: .plain)
        #expect(plain.text(Self.half, columns: 71) == "a.bin [##########           ] \(facts)")
        let untitled = ProgressLine(title: "", isUnicode: true, style: .plain)
        let bar = String(repeating: "█", count: 20) + String(repeating: " ", count: 20)
        #expect(untitled.text(Self.half, columns: 10_000) == "[\(bar)] \(facts)")
        #expect(line.text(TransferProgress(completed: 5), columns: 70) == "a.bin 5 bytes")
        let colored = ProgressLine(title: "", isUnicode: true, style: .colored).text(Self.half, columns: 80)
        #expect(colored.contains("\u{1B}[36m") && colored.contains("\u{1B}[0m"))
    }

    @Test(
        arguments: [
            ([:], false), (["LANG": "en_US.UTF-8"], true), (["LANG": "en_US.utf8"], true),
            (["LC_ALL": "C", "LANG": "en_US.UTF-8"], false), (["LC_ALL": "", "LC_CTYPE": "C.UTF-8"], true),
        ] as [([String: String], Bool)])
    func blocksNeedALocale(environment: [String: String], isUnicode: Bool) {
        var io = Streams().io()
        io.environment = environment
        #expect(io.isUnicode == isUnicode)
    }

    @Test(arguments: 1...100)
    func noLineIsWiderThanTheWindow(seed: UInt64) {
        var random = Seeded(state: seed)
        for _ in 0..<20 {
            let letters = (0..<Int.random(in: 0...30, using: &random)).map { _ in
                "aé€😀\u{1B}\n".randomElement(using: &random) ?? "a"
            }
            let line = ProgressLine(title: String(letters).printable, isUnicode: true, style: .plain)
            let total = Bool.random(using: &random) ? Int64.random(in: 0 ... .max, using: &random) : nil
            let progress = TransferProgress(
                completed: Int64.random(in: 0 ... .max, using: &random), total: total,
                bytesPerSecond: Double.random(in: 0...1e15, using: &random))
            let columns = Int.random(in: 20...200, using: &random)
            let text = line.text(progress, columns: columns)
            let shown = text.unicodeScalars.reduce(0) {
                $0 + ($1.value < 0x80 || (0x2588...0x258F).contains($1.value) ? 1 : 2)
            }
            #expect(shown < columns, "seed \(seed): \(text)")
            #expect(!text.unicodeScalars.contains(where: SafeText.isActive), "seed \(seed)")
        }
    }
}

/// The generator SplitMix64.
private struct Seeded: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
