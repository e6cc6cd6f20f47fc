// SPDX-License-Identifier: MIT

extension [String] {
    /// `a`, `a and b`, `a, b and c`.
    var inWords: String {
        guard count > 1, let last else { return first ?? "" }
        return dropLast().joined(separator: ", ") + " and " + last
    }
}

extension Double {
    /// A share as people read it: `95 %`. What is no share is shown as it is.
    var percent: String { (0...1).contains(self) ? "\(Int((self * 100).rounded())) %" : "\(self)" }
}
