// SPDX-License-Identifier: MIT

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Splits the standard input into lines.
struct InputLines {
    /// The greatest line. A longer one is split.
    var limit = 16 << 20

    private var rest = Data()

    init(limit: Int = 16 << 20) { self.limit = limit }

    /// Returns the lines that end in `piece`, without their line breaks.
    mutating func add(_ piece: Data) -> [String] {
        var lines: [String] = []
        var start = piece.startIndex
        while let end = piece[start...].firstIndex(of: 0x0A) {
            rest.append(piece[start..<end])
            lines.append(Self.text(rest))
            rest = Data()
            start = end + 1
        }
        rest.append(piece[start...])
        if rest.count > limit { lines += self.end().map { [$0] } ?? [] }
        return lines
    }

    /// Returns the last line if no line break ends it.
    mutating func end() -> String? {
        defer { rest = Data() }
        return rest.isEmpty ? nil : Self.text(rest)
    }

    private static func text(_ line: Data) -> String {
        String(decoding: line.last == 0x0D ? line.dropLast() : line, as: UTF8.self)
    }
}
