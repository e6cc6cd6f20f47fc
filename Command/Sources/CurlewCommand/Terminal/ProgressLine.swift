// SPDX-License-Identifier: MIT

import Curlew

/// The text of a progress bar, as a function of its value and of what the terminal can show.
struct ProgressLine {
    /// Text before the bar; may be empty.
    let title: String
    /// Whether the bar consists of block characters, with eighths, or of `#`.
    let isUnicode: Bool
    let style: Style

    /// Returns the line for a terminal, which takes less than `columns` columns. What does not fit is left out: first
    /// the bar, then the end of the text.
    func text(_ progress: TransferProgress, columns: Int) -> String {
        // In the last column, some terminals begin the next line.
        let room = min(max(columns, 20), 400) - 1
        let facts = "\(progress)"
        let label = Self.clipped(title, to: room / 3)
        let used = Self.width(label) + (label.isEmpty ? 0 : 1) + Self.width(facts)
        var parts = label.isEmpty ? [] : [label]
        // The brackets and a space.
        let space = min(room - used - 3, 40)
        if let fraction = progress.fraction, space >= 10 { parts.append(bar(fraction, space)) }
        parts.append(facts)
        return used > room ? Self.clipped(parts.joined(separator: " "), to: room) : parts.joined(separator: " ")
    }

    private func bar(_ fraction: Double, _ length: Int) -> String {
        let eighths = Int((min(1, max(0, fraction)) * Double(length * 8)).rounded(.down))
        var bar = String(repeating: isUnicode ? "█" : "#", count: eighths / 8)
        if isUnicode, eighths % 8 > 0 { bar.unicodeScalars.append(Self.parts[eighths % 8]) }
        return "[" + style(.name, bar) + String(repeating: " ", count: length - bar.unicodeScalars.count) + "]"
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
            text.unicodeScalars.prefix { scalar in
                rest -= scalar.value < 0x80 ? 1 : 2
                return rest >= 0
            })
    }
}
