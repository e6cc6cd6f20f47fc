// SPDX-License-Identifier: MIT

/// Reads keys: resolves their escapes, and converts them to camel case if keys are converted.
///
/// Keys are compared by bytes. Comparing by Unicode equivalence, in which both encodings of `é` are equal, would take
/// quadratic time on hostile input.
struct KeyReader {
    let source: Source
    let convertsKeys: Bool
    let seed: KeySeed

    /// Returns the key as written, with escapes resolved.
    func text(at index: Int, in tape: Tape) -> String {
        let key = tape[index]
        return source.text(key.position, tape.keyLength(at: index), isEscaped: key.has(.escaped))
    }

    /// Returns the name of the key as models see it: converted to camel case if keys are converted.
    func name(at index: Int, in tape: Tape) -> String {
        let text = text(at: index, in: tape)
        return convertsKeys ? SnakeCase.camelCase(text) : text
    }

    func hash(of index: Int, in tape: Tape) -> UInt64 { hash(of: tape[index], length: tape.keyLength(at: index)) }

    /// Returns the hash of a key's name.
    @inline(__always)
    func hash(of key: Cell, length: Int) -> UInt64 {
        guard key.isPlainKey else { return hashOfUncommon(key, length) }
        var hash = KeyHash(seed)
        hash.add(source, key.position, length)
        return hash.value
    }

    @inline(never)
    private func hashOfUncommon(_ key: Cell, _ length: Int) -> UInt64 {
        var hash = KeyHash(seed)
        if key.has(.uncommon) {
            withConvertedName(key, length) { name in hash.add(Source(name), 0, name.count) }
        } else if key.has(.converted) {
            SnakeCase.forEachByte(source, key.position, length) { byte in
                hash.add(byte)
                return true
            }
        } else {
            var text = source.text(key.position, length, isEscaped: true)
            text.withUTF8 { hash.add(Source($0), 0, $0.count) }
        }
        return hash.value
    }

    /// Passes the key in camel case to `body`, by the Unicode rules. Creates a `String` only if the key has escapes.
    private func withConvertedName<Value>(
        _ key: Cell, _ length: Int, _ body: (UnsafeBufferPointer<UInt8>) -> Value
    ) -> Value {
        guard key.has(.escaped) else {
            return SnakeCase.camelCase(source.slice(key.position, length)).withUnsafeBufferPointer(body)
        }
        var text = SnakeCase.camelCase(source.text(key.position, length, isEscaped: true))
        return text.withUTF8(body)
    }

    /// Returns whether a key has this name.
    @inline(__always)
    func isEqual(_ index: Int, _ name: UnsafeBufferPointer<UInt8>, in tape: Tape) -> Bool {
        let key = tape[index]
        guard key.isPlainKey, key.keyLength != Cell.longKey else { return isUncommonEqual(index, name, tape) }
        return key.keyLength == name.count && source.isEqual(at: key.position, to: Source(name))
    }

    @inline(never)
    private func isUncommonEqual(_ index: Int, _ name: UnsafeBufferPointer<UInt8>, _ tape: Tape) -> Bool {
        let key = tape[index]
        guard key.kind == .key else { return false }
        let length = tape.keyLength(at: index)
        if key.has(.uncommon) {
            return withConvertedName(key, length) {
                $0.count == name.count && Source($0).isEqual(at: 0, to: Source(name))
            }
        }
        if key.isPlainKey { return length == name.count && source.isEqual(at: key.position, to: Source(name)) }
        if !key.has(.converted) {
            var text = source.text(key.position, length, isEscaped: true)
            return text.withUTF8 { $0.count == name.count && Source($0).isEqual(at: 0, to: Source(name)) }
        }
        var offset = 0
        var isEqual = true
        func compare(_ byte: UInt8) -> Bool {
            isEqual = offset < name.count && name[offset] == byte
            offset += 1
            return isEqual
        }
        SnakeCase.forEachByte(source, key.position, length, compare)
        return isEqual && offset == name.count
    }

    /// Returns whether two keys have the same name.
    @inline(__always)
    func isEqual(_ first: Int, _ second: Int, in tape: Tape) -> Bool {
        tape[first].hash == tape[second].hash && haveOneName(first, second, tape)
    }

    @inline(never)
    private func haveOneName(_ first: Int, _ second: Int, _ tape: Tape) -> Bool {
        if tape[second].isPlainKey {
            return isEqual(first, source.slice(tape[second].position, tape.keyLength(at: second)), in: tape)
        }
        var name = name(at: second, in: tape)
        return name.withUTF8 { isEqual(first, $0, in: tape) }
    }
}

extension Source {
    /// Creates a source from the bytes of a name to look up.
    @inline(__always)
    init(_ name: UnsafeBufferPointer<UInt8>) {
        let bytes = UnsafeRawBufferPointer(name)
        // An empty buffer may have no address. Nothing is read from the address that replaces it.
        self.init(base: bytes.baseAddress ?? UnsafeRawPointer(Source.nothing), count: bytes.count)
    }

    /// Returns whether the bytes at this position equal the bytes of `other`.
    @inline(__always)
    func isEqual(at position: Int, to other: Source) -> Bool {
        var offset = 0
        while let word = other.word(at: offset) {
            guard self.word(at: position &+ offset) == word else { return false }
            offset &+= 8
        }
        let left = other.count &- offset
        return left == 0
            || partialWord(at: position &+ offset, count: left) == other.partialWord(at: offset, count: left)
    }
}
