// SPDX-License-Identifier: MIT

extension [String] {
    /// The elements joined with commas and a final `and`: `a`, `a and b`, `a, b and c`.
    package var inWords: String {
        guard count > 1, let last else { return first ?? "" }
        return dropLast().joined(separator: ", ") + " and " + last
    }
}

extension String {
    /// The text on one line, with runs of white space replaced by one space.
    package var joinedLines: String { split(whereSeparator: \.isWhitespace).joined(separator: " ") }
}
