// SPDX-License-Identifier: MIT

extension SnakeCase {
    /// Converts `firstName` to `first_name` and `myURLProperty` to `my_url_property`, with the rules of Foundation's
    /// encoder: a word begins with an upper-case letter; if several upper-case letters are consecutive and a lower-case
    /// letter follows, the last of them begins the next word.
    static func converted(to key: String) -> String {
        let signs = Array(key)
        guard signs.count > 1 else { return key.lowercased() == key ? key : key.lowercased() }
        var words: [ArraySlice<Character>] = []
        var (start, from) = (0, 1)
        while let upper = signs[from...].firstIndex(where: \.isUppercase) {
            words.append(signs[start..<upper])
            from = upper
            guard let lower = signs[from...].firstIndex(where: \.isLowercase) else {
                start = upper
                break
            }
            if lower == upper + 1 {
                start = upper
            } else {
                words.append(signs[upper..<(lower - 1)])
                start = lower - 1
            }
            from = lower + 1
        }
        words.append(signs[start...])
        return words.map { String($0).lowercased() }.joined(separator: "_")
    }
}
