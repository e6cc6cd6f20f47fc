// SPDX-License-Identifier: MIT

/// The similarity of short texts, to find the stub or name that was probably meant.
enum TextDistance {
    /// The maximum number of bytes of a text that are compared.
    private static let most = 64

    /// Returns the number of bytes to insert, remove or replace to turn one text into the other. Compares the first 64
    /// bytes, without regard to ASCII case.
    static func between(_ left: some StringProtocol, _ right: some StringProtocol) -> Int {
        let (left, right) = (bytes(of: left), bytes(of: right))
        var row = Array(0...right.count)
        for (index, byte) in left.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in right.indices {
                let replaced = diagonal + (byte == right[column] ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, row[column] + 1, row[column + 1] + 1)
            }
        }
        return row[right.count]
    }

    /// Returns whether the texts differ in at most a third of the longer one.
    static func areSimilar(_ left: some StringProtocol, _ right: some StringProtocol) -> Bool {
        let longest = min(most, max(left.utf8.count, right.utf8.count))
        return between(left, right) * 3 <= longest
    }

    private static func bytes(of text: some StringProtocol) -> [UInt8] {
        text.utf8.prefix(most).map { $0 >= 0x41 && $0 <= 0x5A ? $0 | 0x20 : $0 }
    }
}
