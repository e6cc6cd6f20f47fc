// SPDX-License-Identifier: MIT

/// How many single changes turn one word into another.
enum EditDistance {
    /// Returns the word that is nearest to `text`; nil if none is near. A long word may differ in a third of its bytes.
    static func nearest(to text: String, in words: [String]) -> String? {
        guard text.utf8.count <= 64 else { return nil }
        let ranked = words.map { (word: $0, distance: between(text, $0)) }.min { $0.distance < $1.distance }
        guard let ranked, ranked.distance <= max(1, text.utf8.count / 3) else { return nil }
        return ranked.word
    }

    /// Returns the number of insertions, removals, replacements and swaps of neighbours (optimal string alignment).
    static func between(_ left: String, _ right: String) -> Int {
        let (left, right) = (Array(left.utf8), Array(right.utf8))
        var rows = [Array(0...right.count)]
        for row in left.indices {
            var next = [row + 1]
            for column in right.indices {
                let same = left[row] == right[column]
                var best = min(next[column] + 1, rows[row][column + 1] + 1, rows[row][column] + (same ? 0 : 1))
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                    best = min(best, rows[row - 1][column - 1] + 1)
                }
                next.append(best)
            }
            rows.append(next)
        }
        return rows[left.count][right.count]
    }
}
