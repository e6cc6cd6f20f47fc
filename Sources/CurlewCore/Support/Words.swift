// SPDX-License-Identifier: MIT

extension [String] {
    /// `a`, `a and b`, `a, b and c`.
    var inWords: String {
        guard count > 1, let last else { return first ?? "" }
        return dropLast().joined(separator: ", ") + " and " + last
    }
}
