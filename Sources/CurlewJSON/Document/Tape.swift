// SPDX-License-Identifier: MIT

/// The entries of a document in their order: a container, then what it holds; a key, then its value.
///
/// Memory by hand, because an array in a class would be retained and released around every look at it. The indices
/// come from the scanner alone: it writes entries in order, and a container says where the next entry is. Whoever makes
/// a tape deallocates it.
struct Tape {
    private(set) var entries: UnsafeMutablePointer<Entry>
    private(set) var count = 0
    private var capacity: Int

    /// Most documents have an entry for every eight bytes or fewer.
    init(forBytes bytes: Int) {
        capacity = min(bytes / 6 + 16, 1 << 20)
        entries = .allocate(capacity: capacity)
    }

    @inline(__always)
    mutating func append(_ entry: Entry) {
        if count == capacity { grow() }
        (entries + count).initialize(to: entry)
        count &+= 1
    }

    @inline(__always)
    subscript(index: Int) -> Entry {
        get {
            assert(index >= 0 && index < count)
            return entries[index]
        }
        nonmutating set {
            assert(index >= 0 && index < count)
            entries[index] = newValue
        }
    }

    /// The entry after a value and all that it holds.
    @inline(__always)
    func index(after index: Int) -> Int {
        let entry = self[index]
        return entry.isContainer ? entry.next : index &+ 1
    }

    @inline(never)
    private mutating func grow() {
        let larger = UnsafeMutablePointer<Entry>.allocate(capacity: capacity * 2)
        larger.moveInitialize(from: entries, count: count)
        entries.deallocate()
        entries = larger
        capacity *= 2
    }

    func deallocate() { entries.deallocate() }
}
