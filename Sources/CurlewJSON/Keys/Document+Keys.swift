// SPDX-License-Identifier: MIT

extension Document {
    /// The entry of the value that belongs to the first key with this name.
    @inline(__always)
    func find(_ name: String, in object: Int) -> Int? {
        let entry = tape[object]
        if needsIndex(entry) { return keyIndex(of: object)[name] }
        var name = name
        let found = name.withUTF8 { find($0, in: object, entry) }
        if found >= 0 { return found }
        return found == Document.maybeEquivalent ? keyIndex(of: object)[name] : nil
    }

    @inline(__always)
    private func needsIndex(_ object: Entry) -> Bool {
        object.has(.uncommonKeys) || object.has(.indexed) || object.count > KeyIndex.threshold
    }

    private static var missing: Int { -1 }
    /// No key has these bytes; but they are not all ASCII, and another text may be equal to Swift (the Kelvin sign is
    /// the letter K).
    private static var maybeEquivalent: Int { -2 }

    /// Models mostly read their keys in the order of the document, so a search begins behind the key that was found last,
    /// which is compared without working out the hash of the name.
    @inline(__always)
    private func find(_ name: UnsafeBufferPointer<UInt8>, in object: Int, _ entry: Entry) -> Int {
        guard entry.count > 0 else { return Document.missing }
        let first = object &+ 1
        let start = entry.place == 0 || entry.has(.repeatedKeys) ? first : entry.place
        guard isEqual(tape[start], name) else { return search(name, in: object, from: start) }
        found(start, in: object)
        return start &+ 1
    }

    @inline(never)
    private func search(_ name: UnsafeBufferPointer<UInt8>, in object: Int, from start: Int) -> Int {
        var hash = KeyHash()
        let isASCII = hash.add(Source(name), 0, name.count)
        let value = hash.value
        let entry = tape[object]
        var key = start
        for _ in 0..<entry.count {
            if tape[key].hash == value, isEqual(tape[key], name) {
                found(key, in: object)
                return key &+ 1
            }
            key = tape.index(after: key &+ 1)
            if key == entry.next { key = object &+ 1 }
        }
        return isASCII ? Document.missing : Document.maybeEquivalent
    }

    /// The next search starts with the next key.
    @inline(__always)
    private func found(_ key: Int, in object: Int) {
        var entry = tape[object]
        let after = tape.index(after: key &+ 1)
        entry.setPlace(after == entry.next ? object &+ 1 : after)
        tape[object] = entry
    }

    @inline(__always)
    private func isEqual(_ key: Entry, _ name: UnsafeBufferPointer<UInt8>) -> Bool {
        if key.has(.converted) { return SnakeCase.matches(source, key.place, key.length, name) }
        return key.length == name.count && source.isEqual(at: key.place, to: Source(name))
    }

    /// Made when it is first asked for, and then kept with the document: reading an object twice must not cost twice.
    @inline(never)
    private func keyIndex(of object: Int) -> KeyIndex {
        var entry = tape[object]
        if entry.has(.indexed) { return keyIndexes[entry.place] }
        let index = KeyIndex(of: object, in: self)
        entry.set(.indexed)
        entry.setPlace(keyIndexes.count)
        keyIndexes.append(index)
        tape[object] = entry
        return index
    }

    /// Calls `body` with the entry of each key, in the order of the document.
    @inline(__always)
    func forEachKey(of object: Int, _ body: (Int) throws -> Void) rethrows {
        var key = object &+ 1
        for _ in 0..<tape[object].count {
            try body(key)
            key = tape.index(after: key &+ 1)
        }
    }

    /// The entries of the keys that models see: of equal ones only the first.
    func keys(of object: Int) -> [Int] {
        if needsIndex(tape[object]) { return keyIndex(of: object).keys.map { Int($0) } }
        var keys: [Int] = []
        forEachKey(of: object) { key in
            if !tape[object].has(.repeatedKeys) || find(modelKey(at: key), in: object) == key + 1 { keys.append(key) }
        }
        return keys
    }

    /// The key at an entry as models name it.
    func modelKey(at index: Int) -> String {
        let key = text(at: index)
        return convertsKeys ? SnakeCase.camelCase(key) : key
    }
}

extension Source {
    /// The bytes of a name that is looked up.
    @inline(__always)
    init(_ name: UnsafeBufferPointer<UInt8>) {
        let bytes = UnsafeRawBufferPointer(name)
        // An empty buffer may have no address; then nothing is ever read from the one that stands in.
        self.init(base: bytes.baseAddress ?? UnsafeRawPointer(Source.nothing), count: bytes.count)
    }

    /// If the other bytes stand here.
    @inline(__always)
    func isEqual(at place: Int, to other: Source) -> Bool {
        var offset = 0
        while let word = other.word(at: offset) {
            guard self.word(at: place &+ offset) == word else { return false }
            offset &+= 8
        }
        let left = other.count &- offset
        return left == 0
            || partialWord(at: place &+ offset, count: left) == other.partialWord(at: offset, count: left)
    }
}
