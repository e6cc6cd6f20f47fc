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
