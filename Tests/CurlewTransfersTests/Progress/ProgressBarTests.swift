// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewTesting
import TestServers
import Testing

@testable import CurlewTransfers

@Suite(.timeLimit(.minutes(1)))
struct ProgressBarTests {
    private static let unicode = ["LANG": "de_DE.UTF-8", "NO_COLOR": "1"]
    private static let half = TransferProgress(completed: 500_000, total: 1_000_000, bytesPerSecond: 100_000)

    private static func line(_ title: String = "", _ environment: [String: String] = unicode) -> ProgressLine {
        ProgressLine(title: title, environment: environment)
    }

    @Test("The line has a title, a bar and the numbers, as far as they fit")
    func lines() {
        let facts = "50 %, 500 kB of 1 MB, 100 kB/s, 5 s left"
        #expect("\(Self.half)" == facts)
        let line = Self.line("a.bin")
        #expect(line.text(Self.half, columns: 71) == "a.bin [██████████▌          ] \(facts)")
        #expect(line.text(Self.half, columns: 50) == "a.bin \(facts)")
        #expect(line.text(Self.half, columns: 20) == "a.bin 50 %, 500 kB ")
        #expect(line.text(Self.half, columns: -5) == "a.bin 50 %, 500 kB ")
        #expect(
            Self.line("a.bin", ["LANG": "C", "NO_COLOR": "1"]).text(Self.half, columns: 71)
                == "a.bin [##########           ] \(facts)")
        #expect(
            Self.line().text(Self.half, columns: 10_000) == "[\(String(repeating: "█", count: 20))"
                + "\(String(repeating: " ", count: 20))] \(facts)")
        #expect(line.text(TransferProgress(completed: 5), columns: 70) == "a.bin 5 bytes")
        #expect(line.plain(Self.half) == "a.bin: \(facts)")
        #expect(Self.line().plain(Self.half) == facts)
    }

    @Test(
        "Block characters need a UTF-8 locale, and colour no NO_COLOR",
        arguments: [
            ([:], false, true), (["LANG": "en_US.UTF-8"], true, true), (["LANG": "en_US.utf8"], true, true),
            (["LC_ALL": "C", "LANG": "en_US.UTF-8"], false, true), (["LC_ALL": "", "LC_CTYPE": "C.UTF-8"], true, true),
            (["NO_COLOR": "1"], false, false), (["NO_COLOR": ""], false, true),
        ] as [([String: String], Bool, Bool)])
    func environments(environment: [String: String], isUnicode: Bool, hasColor: Bool) {
        let text = Self.line("", environment).text(Self.half, columns: 80)
        #expect(text.contains("█") == isUnicode)
        #expect(text.contains("\u{1B}[36m") == hasColor && text.contains("\u{1B}[0m") == hasColor)
    }

    @Test("No line is wider than the window or contains a control character", arguments: 1...100)
    func fuzz(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<20 {
            let line = Self.line(random.text(upTo: 30))
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
            #expect(!text.unicodeScalars.contains { $0.value < 0x20 && $0 != "\t" || $0.value == 0x7F }, "seed \(seed)")
        }
    }

    private static func written(
        isTerminal: Bool, _ use: (TransferProgress.Bar, ManualClock) -> Void
    ) throws -> String {
        let folder = try TemporaryFolder()
        let path = try folder.file("log", "")
        let file = open(path, O_WRONLY)
        defer { close(file) }
        let clock = ManualClock()
        let environment = ["NO_COLOR": "1", "COLUMNS": "40"]
        use(
            TransferProgress.Bar("a", to: file, isTerminal: isTerminal, environment: environment, time: clock), clock)
        return String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
    }

    @Test("In a pipe: the first and the last value, and one every 10 seconds between")
    func plain() throws {
        let text = try Self.written(isTerminal: false) { bar, clock in
            for second in 0..<25 {
                bar.handler(TransferProgress(completed: Int64(second), total: 100))
                clock.advance(by: .seconds(1))
            }
            bar.show(TransferProgress(completed: 100, total: 100, isLast: true))
        }
        let numbers = [0, 10, 20, 100].map { "a: \($0) %, \($0) bytes of 100 bytes\n" }
        #expect(text == numbers.joined())
    }

    @Test("On a terminal: one line, redrawn when it changes, and ended by the last value")
    func redraws() throws {
        let text = try Self.written(isTerminal: true) { bar, _ in
            for completed in [0, 0, 50] { bar.show(TransferProgress(completed: Int64(completed), total: 100)) }
            bar.show(TransferProgress(completed: 50, total: 100, isLast: true))
            bar.show(TransferProgress(completed: 1))
        }
        #expect(
            text == "\ra 0 %, 0 bytes of 100 bytes\u{1B}[K\ra 50 %, 50 bytes of 100 bytes\u{1B}[K\n"
                + "\ra 1 bytes\u{1B}[K")
    }

    @Test("A descriptor that cannot be written to is ignored")
    func closed() {
        let bar = TransferProgress.Bar("a", to: -1)
        bar.show(TransferProgress(completed: 1))
        bar.show(TransferProgress(completed: 1, isLast: true))
    }

    #if os(Linux)
    @Test("The window of a real terminal has its columns, a file has none")
    func window() throws {
        let terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        try #require(terminal >= 0)
        defer { close(terminal) }
        var size = winsize(ws_row: 10, ws_col: 25, ws_xpixel: 0, ws_ypixel: 0)
        try #require(ioctl(terminal, UInt(TIOCSWINSZ), &size) == 0)
        #expect(TransferProgress.Bar.columns(of: terminal) == 25)
        let folder = try TemporaryFolder()
        let file = open(try folder.file("log", ""), O_WRONLY)
        defer { close(file) }
        #expect(TransferProgress.Bar.columns(of: file) == nil)
    }
    #endif
}
