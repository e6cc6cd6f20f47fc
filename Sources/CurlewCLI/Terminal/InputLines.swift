// SPDX-License-Identifier: MIT

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Splits the standard input into lines of UTF-8.
struct InputLines {
    /// The greatest line. A longer one is an error, because its parts would be something else.
    static let limit = 16 << 20

    private var rest = Data()
    private let limit: Int

    init(limit: Int = InputLines.limit) { self.limit = limit }

    /// Returns the lines that end in `piece`, without their line breaks.
    mutating func add(_ piece: Data) throws(UsageError) -> [String] {
        var lines: [String] = []
        var start = piece.startIndex
        while let end = piece[start...].firstIndex(of: 0x0A) {
            rest.append(piece[start..<end])
            lines.append(try Self.text(rest))
            rest = Data()
            start = end + 1
        }
        rest.append(piece[start...])
        guard rest.count <= limit else { throw UsageError("A line of the input has more than \(limit >> 20) MiB.") }
        return lines
    }

    /// Returns the last line if no line break ends it.
    mutating func end() throws(UsageError) -> String? {
        defer { rest = Data() }
        return rest.isEmpty ? nil : try Self.text(rest)
    }

    private static func text(_ line: Data) throws(UsageError) -> String {
        let line = line.last == 0x0D ? line.dropLast() : line
        let text = String(decoding: line, as: UTF8.self)
        guard text.utf8.elementsEqual(line) else {
            throw UsageError("A line of the input is not UTF-8.", "Convert the input, for example with iconv.")
        }
        return text
    }
}
