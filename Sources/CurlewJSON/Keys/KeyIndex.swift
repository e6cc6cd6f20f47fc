// SPDX-License-Identifier: MIT

/// The table in the trailer of an object with many keys: an open-addressing hash table with the position of each key.
///
/// A slot holds the distance of the key from the object in cells, or 0 if it is empty. The scanner writes the table
/// when the object ends, so that reading changes nothing. If several keys are equal, the table contains the first.
enum KeyIndex {
    /// The maximum number of keys in an object without a table. In such an object, keys are compared one by one.
    static let threshold = 32

    /// Returns the binary logarithm of the number of slots for `keys` keys. At least a quarter of the slots stay empty.
    static func logarithm(for keys: Int) -> Int {
        var logarithm = 6
        while 3 &<< (logarithm - 2) < keys { logarithm += 1 }
        return logarithm
    }

    /// Enters the keys of an object into its table. All slots must be zero. Returns true if some keys are equal.
    static func fill(_ tape: Tape, _ object: Int, count: Int, table: Int, logarithm: Int, _ keys: KeyReader) -> Bool {
        let mask = 1 &<< logarithm &- 1
        var isRepeated = false
        var key = object &+ 1
        for _ in 0..<count {
            key = tape.key(at: key)
            var number = Int(truncatingIfNeeded: keys.hash(of: key, in: tape)) & mask
            while true {
                let offset = tape.slot(number, ofTableAt: table)
                if offset == 0 {
                    tape.setSlot(number, ofTableAt: table, to: key &- object)
                    break
                }
                if keys.isEqual(object &+ offset, key, in: tape) {
                    isRepeated = true
                    break
                }
                number = (number &+ 1) & mask
            }
            key = tape.index(after: key &+ 1)
        }
        return isRepeated
    }

    /// Returns whether two keys of an object without a table have the same tag. May also return true if two tags differ
    /// only in the lowest bit.
    static func hasRepeatedTags(_ tape: Tape, _ object: Int, count: Int) -> Bool {
        let slots = 64
        return withUnsafeTemporaryAllocation(of: UInt16.self, capacity: slots) { table in
            table.initialize(repeating: 0)
            var key = object &+ 1
            for _ in 0..<count {
                key = tape.key(at: key)
                // Zero is an empty slot.
                let tag = tape[key].hash | 1
                var slot = Int(tag &>> 1) & (slots &- 1)
                while table[slot] != 0 {
                    if table[slot] == tag { return true }
                    slot = (slot &+ 1) & (slots &- 1)
                }
                table[slot] = tag
                key = tape.index(after: key &+ 1)
            }
            return false
        }
    }

    /// Returns the index of the key with this name; 0 if there is none.
    @inline(__always)
    static func find(
        _ name: UnsafeBufferPointer<UInt8>, hash: UInt64, in tape: Tape, _ object: Int, _ head: Cell, _ keys: KeyReader
    ) -> Int {
        let mask = 1 &<< tape.trailer(head).logarithm &- 1
        let table = head.position &+ Trailer.fixedCells
        var number = Int(truncatingIfNeeded: hash) & mask
        while true {
            let offset = tape.slot(number, ofTableAt: table)
            guard offset != 0 else { return 0 }
            let key = object &+ offset
            if tape[key].hash == hash.keyTag, keys.isEqual(key, name, in: tape) { return key }
            number = (number &+ 1) & mask
        }
    }
}

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
