// SPDX-License-Identifier: MIT

#if !canImport(SwiftUI)

/// How text is measured in a terminal: in columns, of which Chinese characters and emoji take two.
extension Character {
    var columns: Int {
        // Where terminals disagree (emoji made of several), the larger number: a gap does no harm, a broken line does.
        if unicodeScalars.contains("\u{FE0F}") { return 2 }
        guard let first = unicodeScalars.first, first.value >= 0x300 else { return 1 }
        switch first.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        return first.properties.isEmojiPresentation || Self.wide.contains { $0.contains(first.value) } ? 2 : 1
    }

    /// East Asian Wide and Fullwidth (UAX #11), by the block.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3,
        0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F900...0x1F9FF,
        0x20000...0x3FFFD,
    ]

    /// Would steer the terminal, or turn the direction of what follows.
    fileprivate var isSteering: Bool {
        unicodeScalars.contains { scalar in
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: true
            case .format: (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
            default: false
            }
        }
    }
}

extension StringProtocol {
    var columns: Int { reduce(0) { $0 + $1.columns } }

    /// The text with a blank for everything that is no text: a server must not move our cursor.
    var printable: String {
        String(map { $0.isSteering ? " " : $0 })
    }

    /// As much of the beginning as fits.
    func prefix(columns: Int) -> SubSequence {
        var used = 0
        return prefix { character in
            used += character.columns
            return used <= columns
        }
    }

    /// The lines of the text, broken between words, and inside of words that are longer than a line.
    func wrapped(to columns: Int) -> [String] {
        split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            .flatMap { $0.wrappedLine(to: Swift.max(1, columns)) }
    }

    private func wrappedLine(to columns: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        var used = 0
        for (number, word) in split(separator: " ", omittingEmptySubsequences: false).enumerated() {
            var word = word[...]
            var length = word.columns
            if number > 0, used + 1 + length <= columns {
                line += " "
                used += 1
            } else if number > 0 {
                lines.append(line)
                (line, used) = ("", 0)
            }
            while length > columns {
                let piece = word.prefix(columns: columns)
                // A character of two columns does not fit into one: it is cut off where the line is drawn.
                let taken = piece.isEmpty ? word.prefix(1) : piece
                lines.append(String(taken))
                word = word.dropFirst(taken.count)
                length -= taken.columns
            }
            line += word
            used += length
        }
        return lines + [line]
    }
}
#endif
