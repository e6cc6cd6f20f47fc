// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// The text of a progress bar, as a function of its value and of what the terminal can show.
package struct ProgressLine: Hashable, Sendable {
    /// The least and the most columns that are used.
    static let columnRange = 20...400
    private static let leastBar = 10
    private static let mostBar = 40

    /// Text before the bar; may be empty.
    let title: String
    /// Whether the bar consists of block characters, with eighths, or of `#`.
    let isUnicode: Bool
    /// Whether the bar is coloured.
    let hasColor: Bool

    /// Creates a line for a program with these environment variables.
    package init(title: String, environment: [String: String]) {
        self.title = title.printable
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        let name = locale.lowercased()
        isUnicode = name.ends(with: "utf-8") || name.ends(with: "utf8")
        hasColor = (environment["NO_COLOR"] ?? "").isEmpty
    }

    /// Returns the line for a file or a pipe.
    package func plain(_ progress: TransferProgress) -> String {
        (title.isEmpty ? "" : title + ": ") + "\(progress)"
    }

    /// Returns the line for a terminal, which takes less than `columns` columns. What does not fit is left out: first
    /// the bar, then the end of the text.
    package func text(_ progress: TransferProgress, columns: Int) -> String {
        // In the last column, some terminals begin the next line.
        let room = min(max(columns, Self.columnRange.lowerBound), Self.columnRange.upperBound) - 1
        let facts = "\(progress)"
        let label = Self.clipped(title, to: room / 3)
        let used = Self.width(label) + (label.isEmpty ? 0 : 1) + Self.width(facts)
        var parts = label.isEmpty ? [] : [label]
        // The brackets and a space.
        let space = min(room - used - 3, Self.mostBar)
        if let fraction = progress.fraction, space >= Self.leastBar { parts.append(bar(fraction, space)) }
        parts.append(facts)
        guard used > room else { return parts.joined(separator: " ") }
        return Self.clipped(parts.joined(separator: " "), to: room)
    }

    private func bar(_ fraction: Double, _ length: Int) -> String {
        let eighths = Int((min(1, max(0, fraction)) * Double(length * 8)).rounded(.down))
        let full = eighths / 8
        var bar = String(repeating: isUnicode ? "█" : "#", count: full)
        var count = full
        if isUnicode, eighths % 8 > 0 {
            bar.unicodeScalars.append(Self.parts[eighths % 8])
            count += 1
        }
        let rest = String(repeating: " ", count: length - count)
        return "[" + (hasColor && count > 0 ? "\u{1B}[36m" + bar + "\u{1B}[0m" : bar) + rest + "]"
    }

    /// Blocks of one to seven eighths, behind an unused first one.
    private static let parts: [Unicode.Scalar] = [" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]

    /// Returns the columns of a text at most: two for every character outside of ASCII.
    static func width(_ text: String) -> Int {
        text.unicodeScalars.reduce(0) { $0 + ($1.value < 0x80 ? 1 : 2) }
    }

    private static func clipped(_ text: String, to columns: Int) -> String {
        var rest = columns
        return String(
            String.UnicodeScalarView(
                text.unicodeScalars.prefix { scalar in
                    rest -= scalar.value < 0x80 ? 1 : 2
                    return rest >= 0
                }))
    }
}
