// SPDX-License-Identifier: MIT

/// The table behind an object of many keys: where each key is, by its hash, with open addresses.
///
/// A slot holds how far behind the object its key is, or 0. The scanner writes the table when the object ends, so that
/// reading changes nothing; of keys that are the same the first one counts.
enum KeyIndex {
    /// Objects of more keys than this have one; in others keys are looked at one by one.
    static let threshold = 32

    /// The binary logarithm of the slots for so many keys: at least a quarter stay empty.
    static func logarithm(for keys: Int) -> Int {
        var logarithm = 6
        while 3 &<< (logarithm - 2) < keys { logarithm += 1 }
        return logarithm
    }

    /// Enters the keys of an object; true if some are the same. The slots must be zero.
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

    /// If two keys of an object without a table have the same part of their hashes.
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

    /// The key that has this name; 0 without one.
    @inline(__always)
    static func find(
        _ name: UnsafeBufferPointer<UInt8>, hash: UInt64, in tape: Tape, _ object: Int, _ head: Cell, _ keys: KeyReader
    ) -> Int {
        let mask = 1 &<< tape.trailer(head).logarithm &- 1
        let table = head.place &+ Trailer.fixedCells
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
