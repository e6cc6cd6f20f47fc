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

extension SnakeCase {
    /// Returns a key in camel case, whatever characters it contains.
    static func camelCase(_ key: String) -> String {
        var key = key
        return key.withUTF8 { bytes in
            // A key without underscores is not split, because it may be long.
            bytes.contains(Byte.underscore) ? String(decoding: camelCase(bytes), as: UTF8.self) : nil
        } ?? key
    }

    /// Returns the UTF-8 of a key in camel case.
    ///
    /// Words end at every underscore that is a separate `Character`, as in Foundation. An underscore with a combining
    /// mark does not end a word.
    static func camelCase(_ key: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        var first = 0
        var end = key.count
        while first < end, isSeparator(first, key) { first += 1 }
        while end > first, isSeparator(end - 1, key) { end -= 1 }
        var result: [UInt8] = []
        result.reserveCapacity(key.count)
        var position = first
        var words = 0
        result += key[..<first]
        while position < end {
            var wordEnd = position
            while wordEnd < end, !isSeparator(wordEnd, key) { wordEnd += 1 }
            if wordEnd > position {
                // A key of one word is not changed.
                if words == 0, wordEnd == end { return Array(key) }
                append(UnsafeBufferPointer(rebasing: key[position..<wordEnd]), isFirst: words == 0, to: &result)
                words += 1
            }
            position = wordEnd + 1
        }
        return result + key[end...]
    }

    /// Appends a word: the first word in lower case, any other word capitalized.
    private static func append(_ word: UnsafeBufferPointer<UInt8>, isFirst: Bool, to result: inout [UInt8]) {
        let start = result.count
        if appendLatin(word, isFirst: isFirst, to: &result) { return }
        result.removeSubrange(start...)
        // In any other word, Unicode rules determine which letters are capitalized.
        let text = String(decoding: word, as: UTF8.self)
        result += (isFirst ? text.lowercased() : text.capitalized).utf8
    }

    /// Appends a word that consists of digits and of letters up to U+00FE whose two cases differ in one bit. Returns
    /// false for any other word.
    private static func appendLatin(
        _ word: UnsafeBufferPointer<UInt8>, isFirst: Bool, to result: inout [UInt8]
    ) -> Bool {
        var followsLetter = isFirst
        var position = 0
        while position < word.count {
            var byte = word[position]
            var isLetter = Byte.isLetter(byte)
            if byte == 0xC3, position + 1 < word.count {
                position += 1
                byte = word[position]
                // Excludes the signs × and ÷, and the letters ß and ÿ, whose two cases differ in more than one bit.
                guard byte & 0xDF != 0x97, byte & 0xDF != 0x9F else { return false }
                result.append(0xC3)
                result.append(followsLetter ? byte | 0x20 : byte & 0xDF)
                isLetter = true
            } else {
                guard isLetter || Byte.isDigit(byte) else { return false }
                result.append(followsLetter ? Byte.lower(byte) : Byte.upper(byte))
            }
            followsLetter = isFirst || isLetter
            position += 1
        }
        return true
    }

    /// Returns whether the byte is an underscore that does not form a larger `Character` with a neighbour.
    private static func isSeparator(_ position: Int, _ key: UnsafeBufferPointer<UInt8>) -> Bool {
        guard key[position] == Byte.underscore else { return false }
        return !(position > 0 && key[position - 1] >= 0x80 && joins(scalarBefore(position, key), position, key))
            && !(position + 1 < key.count && key[position + 1] >= 0x80
                && joins(position, scalarAfter(position + 1, key), key))
    }

    /// Returns whether an underscore and the scalar before or after it form one `Character`. They begin at `start`;
    /// `end` is the offset of the underscore, or the end of the scalar after it.
    private static func joins(_ start: Int, _ end: Int, _ key: UnsafeBufferPointer<UInt8>) -> Bool {
        let (low, high) = key[start] == Byte.underscore ? (start, end) : (start, end + 1)
        // No scalar below U+0300 joins another one, and no ideograph from U+4000 to U+9FFF.
        let lead = key[low] == Byte.underscore ? key[low + 1] : key[low]
        if (0xC2..<0xCC).contains(lead) || (0xE4...0xE9).contains(lead) { return false }
        return String(decoding: key[low..<high], as: UTF8.self).count == 1
    }

    private static func scalarBefore(_ position: Int, _ key: UnsafeBufferPointer<UInt8>) -> Int {
        var start = position - 1
        while start > 0, key[start] & 0xC0 == 0x80 { start -= 1 }
        return start
    }

    private static func scalarAfter(_ position: Int, _ key: UnsafeBufferPointer<UInt8>) -> Int {
        var end = position + 1
        while end < key.count, key[end] & 0xC0 == 0x80 { end += 1 }
        return end
    }
}

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
