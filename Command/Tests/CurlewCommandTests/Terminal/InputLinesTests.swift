// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import CurlewCommand

@Suite(.timeLimit(.minutes(1)))
struct InputLinesTests {
    @Test func piecesBecomeLines() throws {
        var lines = InputLines()
        #expect(try lines.add(Data("a\nb\r\n\nc".utf8)) == ["a", "b", ""])
        #expect(try lines.add(Data([0x64, 0xC3])) == [])
        #expect(try lines.add(Data([0xA9, 0x0A])) == ["cdé"])
        #expect(try lines.end() == nil)
        _ = try lines.add(Data("last".utf8))
        #expect(try lines.end() == "last")
    }

    @Test func otherBytesAndLongLinesAreRefused() throws {
        var lines = InputLines(limit: 10)
        #expect(throws: UsageError.self) { try lines.add(Data([0x61, 0xFF, 0x0A])) }
        var long = InputLines(limit: 10)
        _ = try long.add(Data("0123456789".utf8))
        #expect(throws: UsageError.self) { try long.add(Data("0".utf8)) }
    }
}
