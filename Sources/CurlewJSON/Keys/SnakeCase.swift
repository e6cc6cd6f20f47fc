// SPDX-License-Identifier: MIT

import CurlewFoundation

/// Converts `created_at` to `createdAt`, with the rules of Foundation's decoder.
///
/// Leading and trailing underscores are kept. Other underscores separate words: the first word becomes lower case, and
/// the following words are capitalized. A key of one word is not changed.
enum SnakeCase {
    enum Form {
        /// A key of one word.
        case unchanged
        /// Several words of ASCII letters and digits.
        case converted
        /// Any other key, for which the rules need Unicode.
        case uncommon
    }

    /// Returns the form of an ASCII key. The form determines how the key is converted.
    static func form(of source: Source, _ start: Int, _ length: Int) -> Form {
        guard hasUnderscore(source, start, length), hasInnerUnderscore(source, start, length) else { return .unchanged }
        for position in start..<(start &+ length) {
            let byte = source[position]
            if !Byte.isLetter(byte) && !Byte.isDigit(byte) && byte != Byte.underscore { return .uncommon }
        }
        return .converted
    }

    /// Returns whether the key contains an underscore. Checks eight bytes at a time, because most keys have none.
    private static func hasUnderscore(_ source: Source, _ start: Int, _ length: Int) -> Bool {
        let end = start &+ length
        var position = start
        while position < end {
            let left = end &- position
            let word = left >= 8 ? source.word(at: position) ?? 0 : source.partialWord(at: position, count: left)
            let others = word ^ 0x5F5F_5F5F_5F5F_5F5F
            if (others &- 0x0101_0101_0101_0101) & ~others & 0x8080_8080_8080_8080 != 0 { return true }
            position &+= 8
        }
        return false
    }

    private static func hasInnerUnderscore(_ source: Source, _ start: Int, _ length: Int) -> Bool {
        let word = innerRange(source, start, length)
        return word.contains { source[$0] == Byte.underscore }
    }

    /// Returns the range of the key without leading and trailing underscores.
    private static func innerRange(_ source: Source, _ start: Int, _ length: Int) -> Range<Int> {
        var first = start
        var end = start + length
        while first < end, source[first] == Byte.underscore { first += 1 }
        while first < end, source[end - 1] == Byte.underscore { end -= 1 }
        return first..<end
    }

    /// Passes the bytes of a key in camel case to `emit`, until `emit` returns false. The key must have the form
    /// `converted`.
    @inline(__always)
    static func forEachByte(_ source: Source, _ start: Int, _ length: Int, _ emit: (UInt8) -> Bool) {
        let inner = innerRange(source, start, length)
        for _ in start..<inner.lowerBound where !emit(Byte.underscore) { return }
        var isFirstWord = true
        // A letter after any other character begins a word: `item_2nd` is `item2Nd`.
        var followsLetter = false
        for position in inner {
            let byte = source[position]
            if byte == Byte.underscore {
                isFirstWord = false
                followsLetter = false
                continue
            }
            guard emit(isFirstWord || followsLetter ? Byte.lower(byte) : Byte.upper(byte)) else { return }
            followsLetter = Byte.isLetter(byte)
        }
        for _ in inner.upperBound..<(start + length) where !emit(Byte.underscore) { return }
    }
}

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
