// SPDX-License-Identifier: MIT

/// Keys that cost too much as a `String`.
///
/// To hash and to compare texts Swift puts combining marks that follow each other in order, which takes time that grows
/// with the square of their number. Text in which no more than 30 do is safe (the Stream-Safe Text Format, UAX #15 §13),
/// and no language needs more. Lookups compare bytes, and take any key; what makes a `String` of keys refuses others.
enum CombiningMarks {
    static let most = 30

    /// If more than that many follow each other in a text.
    static func areTooMany(in text: String) -> Bool {
        // Every one has two bytes or more.
        guard text.utf8.count > 2 * most else { return false }
        var marks = 0
        for scalar in text.unicodeScalars {
            guard scalar.value >= 0x300, scalar.properties.canonicalCombiningClass != .notReordered else {
                marks = 0
                continue
            }
            marks += 1
            if marks > most { return true }
        }
        return false
    }
}
