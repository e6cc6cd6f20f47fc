// SPDX-License-Identifier: MIT

/// Where the values of one object are, by key: for objects of many keys, and for keys that only `String` can compare.
///
/// The dictionary of the standard library has a seed, so that nobody can make up keys that collide, and compares keys
/// as Swift compares strings. The first of equal keys counts.
struct KeyIndex {
    /// Objects of more keys than this have one.
    static let threshold = 32

    private var values: [String: UInt32] = [:]
    /// The first keys of each name, in the order of the document.
    private(set) var keys: [UInt32] = []

    init(of object: Int, in document: Document) {
        let count = document.tape[object].count
        values.reserveCapacity(count)
        keys.reserveCapacity(count)
        document.forEachKey(of: object) { key in
            let value = UInt32(truncatingIfNeeded: key + 1)
            let known = values.count
            // Puts the value there if there is none, and looks only once.
            _ = { (_: inout UInt32) in }(&values[document.modelKey(at: key), default: value])
            if values.count > known { keys.append(value - 1) }
        }
    }

    subscript(key: String) -> Int? { values[key].map { Int($0) } }
}
