// SPDX-License-Identifier: MIT

/// The bytes of a document. Only this type reads them through a pointer, and it checks every offset.
///
/// A `Span` would provide the same checks, but a container that a model keeps cannot store one.
struct Source {
    private let base: UnsafeRawPointer
    let count: Int
    /// The first offset at which fewer than eight bytes are left.
    private let wordEnd: UInt

    /// A non-null address that stands for an empty buffer.
    static var nothing: UnsafePointer<UInt8> { ("" as StaticString).utf8Start }

    init(base: UnsafeRawPointer, count: Int) {
        self.base = base
        self.count = count
        wordEnd = UInt(bitPattern: max(0, count &- 7))
    }

    /// Returns the byte at an offset. Returns 0 outside the document, because the grammar of JSON accepts 0 nowhere.
    @inline(__always)
    subscript(position: Int) -> UInt8 {
        UInt(bitPattern: position) < UInt(bitPattern: count) ? base.load(fromByteOffset: position, as: UInt8.self) : 0
    }

    /// Returns eight bytes as a word, the first byte lowest; nil if fewer bytes are left.
    @inline(__always)
    func word(at position: Int) -> UInt64? {
        guard UInt(bitPattern: position) < wordEnd else { return nil }
        return UInt64(littleEndian: base.loadUnaligned(fromByteOffset: position, as: UInt64.self))
    }

    /// Returns fewer than eight bytes as a word, the first byte lowest, with zeros above.
    @inline(__always)
    func partialWord(at position: Int, count length: Int) -> UInt64 {
        if let word = word(at: position) { return word & ((1 &<< UInt64(truncatingIfNeeded: length &* 8)) &- 1) }
        return lastWord(at: position, count: length)
    }

    /// Returns a partial word where fewer than eight bytes are left, as in a short name. Reads groups of one, two and
    /// four bytes instead of single bytes.
    @inline(__always)
    private func lastWord(at position: Int, count length: Int) -> UInt64 {
        guard position >= 0, length >= 0, length < 8, position <= count &- length else { return 0 }
        var word: UInt64 = 0
        var end = length
        if length & 1 != 0 {
            end &-= 1
            word = UInt64(base.load(fromByteOffset: position &+ end, as: UInt8.self))
        }
        if length & 2 != 0 {
            end &-= 2
            let pair = base.loadUnaligned(fromByteOffset: position &+ end, as: UInt16.self)
            word = word &<< 16 | UInt64(UInt16(littleEndian: pair))
        }
        if length & 4 != 0 {
            let four = base.loadUnaligned(fromByteOffset: position, as: UInt32.self)
            word = word &<< 32 | UInt64(UInt32(littleEndian: four))
        }
        return word
    }

    /// Returns a range of the bytes as a buffer for the standard library, clamped to the end of the document.
    @inline(__always)
    func slice(_ position: Int, _ length: Int) -> UnsafeBufferPointer<UInt8> {
        let start = max(0, min(position, count))
        let bytes = UnsafeRawBufferPointer(start: base + start, count: max(0, min(length, count &- start)))
        return bytes.assumingMemoryBound(to: UInt8.self)
    }

    /// All bytes, for errors and copies.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }
}

extension Source {
    /// Returns the offset of the first byte that is not valid UTF-8 (RFC 3629 §4); nil if all bytes are valid. The byte
    /// at `end`, if there is one, must be ASCII, so that it ends a truncated sequence.
    func firstInvalid(from start: Int, to end: Int) -> Int? {
        var position = start
        while position < end, let word = word(at: position) {
            let high = word & 0x8080_8080_8080_8080
            if high == 0 {
                position &+= 8
            } else if high & 0x80 == 0 {
                position &+= high.trailingZeroBitCount / 8
            } else if Source.isFourPairs(word) {
                position &+= 8
            } else {
                let length = Source.sequenceLength(UInt32(truncatingIfNeeded: word))
                guard length > 0 else { return position }
                position &+= length
            }
        }
        // The last bytes of the document.
        while position < end {
            guard self[position] >= 0x80 else {
                position &+= 1
                continue
            }
            let word = partialWord(at: position, count: min(4, count &- position))
            let length = Source.sequenceLength(UInt32(truncatingIfNeeded: word))
            guard length > 0 else { return position }
            position &+= length
        }
        return nil
    }

    /// Returns whether the document ends in the middle of the sequence at `position`, and further bytes could complete
    /// it.
    func isCutShort(at position: Int) -> Bool {
        let first = self[position]
        guard 0xC2...0xF4 ~= first else { return false }
        let length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
        guard position + length > count else { return false }
        guard position + 1 < count else { return true }
        let lower: UInt8 = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80
        let upper: UInt8 = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF
        guard lower...upper ~= self[position + 1] else { return false }
        return position + 2 >= count || 0x80...0xBF ~= self[position + 2]
    }

    /// Returns whether a word consists of four two-byte characters. Text in many scripts has long runs of them.
    @inline(__always)
    private static func isFourPairs(_ word: UInt64) -> Bool {
        guard word & 0xC0E0_C0E0_C0E0_C0E0 == 0x80C0_80C0_80C0_80C0 else { return false }
        // No first byte may be C0 or C1: in every pair, one of these bits must be set.
        let bits = word & 0x001E_001E_001E_001E
        return (bits &- 0x0001_0001_0001_0001) & ~bits & 0x8000_8000_8000_8000 == 0
    }

    /// Returns the length of the multi-byte sequence at the beginning of a word; 0 if the sequence is invalid. The
    /// first byte is the lowest byte of the word.
    @inline(__always)
    private static func sequenceLength(_ word: UInt32) -> Int {
        if word & 0xC0E0 == 0x80C0 {
            // C0 and C1 begin overlong forms of ASCII.
            return word & 0x1E != 0 ? 2 : 0
        }
        if word & 0xC0_C0F0 == 0x80_80E0 {
            // Excludes overlong forms below U+0800, and surrogates.
            let bits = word & 0x200F
            return bits != 0 && bits != 0x200D ? 3 : 0
        }
        guard word & 0xC0C0_C0F8 == 0x8080_80F0 else { return 0 }
        // Excludes overlong forms below U+10000, and values above U+10FFFF.
        let bits = word & 0x3007
        return bits != 0 && (bits & 7 < 4 || bits == 4) ? 4 : 0
    }
}

/// The ASCII bytes with a meaning in JSON or in keys, and functions that classify and convert bytes.
enum Byte {
    static let tab = UInt8(ascii: "\t")
    static let newline = UInt8(ascii: "\n")
    static let carriageReturn = UInt8(ascii: "\r")
    static let space = UInt8(ascii: " ")
    static let quote = UInt8(ascii: "\"")
    static let plus = UInt8(ascii: "+")
    static let comma = UInt8(ascii: ",")
    static let minus = UInt8(ascii: "-")
    static let point = UInt8(ascii: ".")
    static let slash = UInt8(ascii: "/")
    static let zero = UInt8(ascii: "0")
    static let nine = UInt8(ascii: "9")
    static let colon = UInt8(ascii: ":")
    static let leftBracket = UInt8(ascii: "[")
    static let backslash = UInt8(ascii: "\\")
    static let rightBracket = UInt8(ascii: "]")
    static let underscore = UInt8(ascii: "_")
    static let leftBrace = UInt8(ascii: "{")
    static let rightBrace = UInt8(ascii: "}")

    @inline(__always)
    static func isDigit(_ byte: UInt8) -> Bool { byte &- zero < 10 }

    @inline(__always)
    static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- UInt8(ascii: "a") < 26 }

    static func upper(_ byte: UInt8) -> UInt8 { isLetter(byte) ? byte & ~0x20 : byte }

    static func lower(_ byte: UInt8) -> UInt8 { isLetter(byte) ? byte | 0x20 : byte }

    static func hexValue(_ byte: UInt8) -> UInt32? {
        if isDigit(byte) { return UInt32(byte - zero) }
        let letter = (byte | 0x20) &- UInt8(ascii: "a")
        return letter < 6 ? UInt32(letter) + 10 : nil
    }
}
