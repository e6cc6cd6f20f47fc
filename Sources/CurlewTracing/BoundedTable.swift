// SPDX-License-Identifier: MIT

/// A dictionary with a maximum number of entries. When it is full, the oldest entry makes room for a new one.
struct BoundedTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry: Sendable {
        let serial: UInt64
        var value: Value
    }

    private var entries: [Key: Entry] = [:]
    /// The keys in the order of insertion. Those of removed entries remain until the next compaction.
    private var order: [(key: Key, serial: UInt64)] = []
    private var head = 0
    private var serial: UInt64 = 0
    private let limit: Int

    init(limit: Int) {
        self.limit = max(1, limit)
    }

    var count: Int { entries.count }

    subscript(key: Key) -> Value? { entries[key]?.value }

    /// Inserts a value, in place of an earlier one of the same key. Returns the value of the entry that had to make
    /// room; nil if there was room.
    @discardableResult
    mutating func insert(_ value: Value, for key: Key) -> Value? {
        serial += 1
        entries[key] = Entry(serial: serial, value: value)
        if order.count - head >= 2 * limit + 64 || head > limit + 64 { compact() }
        order.append((key, serial))
        return entries.count > limit ? removeOldest() : nil
    }

    mutating func remove(_ key: Key) -> Value? {
        entries.removeValue(forKey: key)?.value
    }

    /// Changes the value of a key in place. Returns nil if there is none.
    mutating func change<Result>(_ key: Key, _ change: (inout Value) -> Result) -> Result? {
        guard let index = entries.index(forKey: key) else { return nil }
        return change(&entries.values[index].value)
    }

    private mutating func removeOldest() -> Value? {
        while head < order.count {
            let oldest = order[head]
            head += 1
            if entries[oldest.key]?.serial == oldest.serial { return entries.removeValue(forKey: oldest.key)?.value }
        }
        return nil
    }

    private mutating func compact() {
        order = order[head...].filter { entries[$0.key]?.serial == $0.serial }
        head = 0
    }
}
