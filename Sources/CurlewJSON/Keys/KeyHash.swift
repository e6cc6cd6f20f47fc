// SPDX-License-Identifier: MIT

/// A hash of the bytes of a key, worked out while scanning so that a lookup compares numbers.
///
/// It has no seed, so keys that collide can be made up. It is therefore used for objects of a few keys only, where a
/// collision costs one comparison of bytes; `KeyIndex` serves the others.
struct KeyHash {
    private var state: UInt64 = 0x9E37_79B9_7F4A_7C15
    /// The bytes at the end that fill no word.
    private var rest: UInt64 = 0
    private var count: UInt64 = 0

    @inline(__always)
    var value: UInt32 {
        var mixed = state
        if count & 7 != 0 { mixed = KeyHash.mix(mixed, rest) }
        return UInt32(truncatingIfNeeded: KeyHash.mix(mixed, count) &>> 32)
    }

    /// All bytes of a key at once; false if one is not ASCII.
    @inline(__always)
    mutating func add(_ source: Source, _ start: Int, _ length: Int) -> Bool {
        count = UInt64(truncatingIfNeeded: length)
        var place = start
        let end = start &+ length
        var seen: UInt64 = 0
        while place &+ 8 <= end, let word = source.word(at: place) {
            state = KeyHash.mix(state, word)
            seen |= word
            place &+= 8
        }
        if place < end {
            rest = source.partialWord(at: place, count: end &- place)
            seen |= rest
        }
        return seen & 0x8080_8080_8080_8080 == 0
    }

    /// One byte after the other, for keys that are converted on the way.
    mutating func add(_ byte: UInt8) {
        rest |= UInt64(byte) << ((count & 7) * 8)
        count += 1
        if count & 7 == 0 {
            state = KeyHash.mix(state, rest)
            rest = 0
        }
    }

    @inline(__always)
    private static func mix(_ state: UInt64, _ word: UInt64) -> UInt64 {
        let mixed = (state ^ word) &* 0xFF51_AFD7_ED55_8CCD
        return mixed ^ (mixed &>> 32)
    }
}
