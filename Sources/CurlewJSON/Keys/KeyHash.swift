// SPDX-License-Identifier: MIT

/// The seed of key hashes: random numbers that differ in each process, so that an attacker cannot construct colliding
/// keys.
struct KeySeed {
    let state: UInt64
    let factor: UInt64

    init(_ random: inout some RandomNumberGenerator) {
        state = random.next()
        factor = random.next() | 1
    }

    static let process: KeySeed = {
        var random = SystemRandomNumberGenerator()
        return KeySeed(&random)
    }()
}

/// A hash of the bytes of a key. The scanner computes it, so that lookups compare numbers.
///
/// Each group of eight bytes is multiplied by a secret number, and the halves of the product are combined.
struct KeyHash {
    private let seed: KeySeed
    private var state: UInt64
    /// The bytes at the end that do not fill a word.
    private var remainder: UInt64 = 0
    private var count: UInt64 = 0

    @inline(__always)
    init(_ seed: KeySeed) {
        self.seed = seed
        state = seed.state
    }

    @inline(__always)
    var value: UInt64 { KeyHash.mix(state ^ remainder, seed.factor ^ count) }

    /// Hashes all bytes of a key.
    @inline(__always)
    mutating func add(_ source: Source, _ start: Int, _ length: Int) {
        count = UInt64(truncatingIfNeeded: length)
        var position = start
        let end = start &+ length
        while position &+ 8 <= end, let word = source.word(at: position) {
            state = KeyHash.mix(state ^ word, seed.factor)
            position &+= 8
        }
        if position < end { remainder = source.partialWord(at: position, count: end &- position) }
    }

    /// Adds one byte, for keys that are converted while they are hashed.
    mutating func add(_ byte: UInt8) {
        remainder |= UInt64(byte) << ((count & 7) * 8)
        count += 1
        if count & 7 == 0 {
            state = KeyHash.mix(state ^ remainder, seed.factor)
            remainder = 0
        }
    }

    @inline(__always)
    private static func mix(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let (high, low) = left.multipliedFullWidth(by: right)
        return high ^ low
    }
}

extension UInt64 {
    /// The part of a hash that is stored in the cell of a key.
    @inline(__always) var keyTag: UInt16 { UInt16(truncatingIfNeeded: self &>> 48) }
}

/// A Bloom filter for the keys of an object that have been scanned so far. Each key sets two bits, from different parts
/// of its hash.
struct KeyFilter {
    private var first: UInt64 = 0
    private var second: UInt64 = 0

    /// Adds a hash. Returns true if a key with this hash may already have been added.
    @inline(__always)
    mutating func insert(_ hash: UInt64) -> Bool {
        let one: UInt64 = 1 &<< (hash &>> 32 & 63)
        let two: UInt64 = 1 &<< (hash &>> 40 & 63)
        let isKnown = first & one != 0 && second & two != 0
        first |= one
        second |= two
        return isKnown
    }
}
