// SPDX-License-Identifier: MIT

extension Document {
    /// Returns the index of the value of the first key with this name; nil if there is none.
    @inline(__always)
    func find(_ name: String, in object: Int) -> Int? {
        var name = name
        let key = name.withUTF8 { find($0, in: object) }
        return key == Document.missing ? nil : key &+ 1
    }

    /// `find` for callers that are not worth a copy of it.
    @inline(never)
    func sharedFind(_ name: String, in object: Int) -> Int? { find(name, in: object) }

    /// The index that represents a missing key. It cannot be the index of a key, because no document begins with a key.
    private static var missing: Int { 0 }

    /// Returns the index of the first key with this name, or `missing`.
    ///
    /// Models usually read their keys in the order of the document. The search therefore begins after the key that was
    /// found last: if that key has the name, the name need not be hashed.
    @inline(__always)
    private func find(_ name: UnsafeBufferPointer<UInt8>, in object: Int) -> Int {
        let head = tape[object]
        guard !head.isEmptyContainer else { return Document.missing }
        let isConfined = isConfined
        let start = isConfined ? hints.start(of: object) : object &+ 1
        guard keys.isEqual(start, name, in: tape) else { return search(name, in: object, from: start, isConfined) }
        if isConfined { remember(start, in: object, head) }
        return start
    }

    @inline(never)
    private func search(_ name: UnsafeBufferPointer<UInt8>, in object: Int, from start: Int, _ isConfined: Bool) -> Int
    {
        var hash = KeyHash(keys.seed)
        hash.add(Source(name), 0, name.count)
        let value = hash.value
        let head = tape[object]
        let key = find(name, value, in: object, head, from: start)
        if isConfined, key != Document.missing { remember(key, in: object, head) }
        return key
    }

    @inline(__always)
    private func find(
        _ name: UnsafeBufferPointer<UInt8>, _ hash: UInt64, in object: Int, _ head: Cell, from start: Int
    ) -> Int {
        let count = tape.elements(head)
        if count > KeyIndex.threshold { return KeyIndex.find(name, hash: hash, in: tape, object, head, keys) }
        let end = tape.end(of: object, head)
        let tag = hash.keyTag
        var key = start
        for _ in 0..<count {
            key = tape.key(at: key)
            if tape[key].hash == tag, keys.isEqual(key, name, in: tape) { return key }
            key = tape.index(after: key &+ 1)
            if key == end { key = object &+ 1 }
        }
        return Document.missing
    }

    /// Makes the next search begin at the key after this one, unless the object may contain equal keys.
    @inline(__always)
    private func remember(_ key: Int, in object: Int, _ head: Cell) {
        guard !head.has(.repeated) else { return }
        let next = tape.index(after: key &+ 1)
        hints.set(next == tape.end(of: object, head) ? object &+ 1 : next, of: object)
    }

    /// Calls `body` with the cell of each key, in the order of the document.
    @inline(__always)
    func forEachKey(of object: Int, _ body: (Int) throws -> Void) rethrows {
        var key = object &+ 1
        for _ in 0..<tape.elements(tape[object]) {
            key = tape.key(at: key)
            try body(key)
            key = tape.index(after: key &+ 1)
        }
    }

    /// Returns the names of the keys for models, in the order of the document. If several keys are equal, only the
    /// first is included; keys that would be slow to compare are omitted.
    func names(of object: Int) -> [String] {
        let head = tape[object]
        var names: [String] = []
        names.reserveCapacity(tape.elements(head))
        guard head.has(.repeated) || head.has(.foreign) else {
            forEachKey(of: object) { names.append(keys.name(at: $0, in: tape)) }
            return names
        }
        // Names are compared as strings, as models compare them: equal strings may have different bytes.
        var known: Set<String> = []
        forEachKey(of: object) { key in
            guard !tape[key].has(.crowded) else { return }
            let name = keys.name(at: key, in: tape)
            if known.insert(name).inserted { names.append(name) }
        }
        return names
    }
}

/// The positions at which the next searches in recently read objects begin. Only one thread may use them at a time.
struct SearchHints {
    private static var slots: Int { 8 }
    private let memory: UnsafeMutablePointer<UInt64>

    init() {
        memory = .allocate(capacity: SearchHints.slots)
        memory.initialize(repeating: .max, count: SearchHints.slots)
    }

    func deallocate() { memory.deallocate() }

    /// Returns the position at which a search begins: that of the first key, if the object has no hint.
    @inline(__always)
    func start(of object: Int) -> Int {
        let hint = memory[object & (SearchHints.slots &- 1)]
        return Int(truncatingIfNeeded: hint &>> 32) == object
            ? Int(truncatingIfNeeded: UInt32(truncatingIfNeeded: hint)) : object &+ 1
    }

    @inline(__always)
    func set(_ key: Int, of object: Int) {
        memory[object & (SearchHints.slots &- 1)] =
            UInt64(UInt32(truncatingIfNeeded: object)) &<< 32 | UInt64(UInt32(truncatingIfNeeded: key))
    }
}
