// SPDX-License-Identifier: MIT

/// The maximum number of consecutive combining marks in a key. Beyond it, the key is too expensive to use as a
/// `String`.
///
/// To hash and compare strings, Swift sorts consecutive combining marks in a time that is quadratic in their number.
/// Text with at most 30 consecutive marks is safe (the Stream-Safe Text Format, UAX #15 §13), and no language needs
/// more. Lookups compare bytes and accept any key. Code that creates a `String` from keys rejects or omits keys beyond
/// the limit.
enum CombiningMarks {
    static let maximum = 30

    /// Returns whether `text` contains more than `maximum` consecutive combining marks.
    static func areTooMany(in text: String) -> Bool {
        // Every mark has at least two bytes.
        guard text.utf8.count > 2 * maximum else { return false }
        var marks = 0
        for scalar in text.unicodeScalars {
            guard scalar.value >= 0x300, scalar.properties.canonicalCombiningClass != .notReordered else {
                marks = 0
                continue
            }
            marks += 1
            if marks > maximum { return true }
        }
        return false
    }
}
