// SPDX-License-Identifier: MIT

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// How all examples print: 80 columns, one width of labels, plain where the output is no terminal or the reader wants
/// no colours (`NO_COLOR`).
package enum Look {
    package static let columns = 80
    /// Where values begin.
    package static let margin = 22

    private static let isStyled =
        isatty(STDOUT_FILENO) == 1 && (ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty

    package static func bold(_ text: String) -> String { styled(text, "1") }
    package static func dim(_ text: String) -> String { styled(text, "2") }
    package static func red(_ text: String) -> String { styled(text, "31") }
    package static func green(_ text: String) -> String { styled(text, "32") }
    package static func yellow(_ text: String) -> String { styled(text, "33") }

    private static func styled(_ text: String, _ code: String) -> String {
        isStyled ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }

    /// A label and its value, as lines of at most 80 columns.
    package static func value(_ label: String, _ text: String) -> [String] {
        let lines = wrapped(text, to: columns - margin)
        return lines.enumerated().map { index, line in
            let name = index == 0 ? label : ""
            return "    " + dim(name.padded(to: margin - 4)) + line
        }
    }

    /// The words of a text on lines of at most `width` columns; a longer word has lines of its own. `hanging` is how
    /// far the lines after the first of a paragraph are set in.
    package static func wrapped(_ text: String, to width: Int, hanging: Int = 0) -> [String] {
        var lines: [String] = []
        let indent = String(repeating: " ", count: hanging)
        for paragraph in text.split(separator: "\n", omittingEmptySubsequences: false) {
            var line = ""
            var isBlank = true
            for word in paragraph.split(separator: " ", omittingEmptySubsequences: false) {
                var word = word[...]
                while true {
                    let room = width - line.count - (isBlank ? 0 : 1)
                    if word.count <= room {
                        line += (isBlank ? "" : " ") + word
                        isBlank = false
                        break
                    }
                    if isBlank {
                        lines.append(line + word.prefix(room))
                        word = word.dropFirst(room)
                    } else {
                        lines.append(String(line.reversed().drop { $0 == " " }.reversed()))
                    }
                    line = indent
                    isBlank = true
                }
            }
            lines.append(line)
        }
        return lines
    }

    /// `12.3 ms`, which needs no tables of languages.
    package static func milliseconds(_ time: Duration) -> String {
        let tenths = Int((time / .microseconds(100)).rounded())
        return "\(tenths / 10).\(tenths % 10) ms"
    }

    /// A price with two decimals: `1899.00`.
    package static func price(_ price: Double) -> String {
        let cents = Int((price * 100).rounded())
        let rest = "\(cents % 100)"
        return "\(cents / 100)." + (rest.count < 2 ? "0" : "") + rest
    }
}

extension String {
    /// With blanks behind it, one at least.
    package func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(1, width - count))
    }

    /// With blanks before it.
    package func aligned(to width: Int) -> String {
        String(repeating: " ", count: max(0, width - count)) + self
    }
}
