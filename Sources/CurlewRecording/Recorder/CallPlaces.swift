// SPDX-License-Identifier: MIT

/// The places of calls in a ring, by the numbers of the calls.
///
/// Numbers of calls ascend by one, so their last bits distinguish nearly all calls of a ring without a hash. A dictionary
/// for all calls took a third of the time of recording a call; here, it has those whose last bits are equal.
struct CallPlaces {
    private struct Entry {
        /// Zero for an empty entry: numbers of calls begin with one.
        var call: UInt64 = 0
        var place = 0
    }

    private var entries: [Entry]
    private var others: [UInt64: Int] = [:]

    /// The maximum number of entries, which take 16 bytes each.
    private static let mostEntries = 65_536

    /// Creates an empty table for a ring with `capacity` places.
    init(capacity: Int) {
        var size = 256
        while size < capacity * 4, size < Self.mostEntries { size *= 2 }
        entries = [Entry](repeating: Entry(), count: size)
    }

    func find(_ call: UInt64) -> Int? {
        let entry = entries[index(of: call)]
        if entry.call == call { return entry.place }
        return others.isEmpty ? nil : others[call]
    }

    /// Adds a call that the table does not have.
    mutating func insert(_ call: UInt64, at place: Int) {
        let index = index(of: call)
        let old = entries[index]
        if old.call != 0 { others[old.call] = old.place }
        entries[index] = Entry(call: call, place: place)
    }

    mutating func remove(_ call: UInt64) {
        let index = index(of: call)
        if entries[index].call == call {
            entries[index] = Entry()
        } else {
            others[call] = nil
        }
    }

    private func index(of call: UInt64) -> Int { Int(truncatingIfNeeded: call) & (entries.count - 1) }
}
