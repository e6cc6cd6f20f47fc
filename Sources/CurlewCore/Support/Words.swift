// SPDX-License-Identifier: MIT

extension [String] {
    /// The elements joined with commas and a final `and`: `a`, `a and b`, `a, b and c`.
    package var inWords: String {
        guard count > 1, let last else { return first ?? "" }
        return dropLast().joined(separator: ", ") + " and " + last
    }
}

extension Double {
    /// The value as a percentage: `95 %`. A value outside 0...1 is shown unchanged.
    package var percent: String { (0...1).contains(self) ? "\(Int((self * 100).rounded())) %" : "\(self)" }
}

extension String {
    /// The text on one line, with runs of white space replaced by one space.
    package var joinedLines: String { split(whereSeparator: \.isWhitespace).joined(separator: " ") }
}
