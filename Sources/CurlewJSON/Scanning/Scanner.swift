// SPDX-License-Identifier: MIT

/// Reads a document once from front to back, checks all of its grammar (RFC 8259), and writes the tape.
///
/// Without recursion: an open container keeps the index of the one around it in its own entry until it is closed.
struct Scanner {
    /// Foundation's bound.
    static let maximumDepth = 512

    let source: Source
    let convertsKeys: Bool
    var tape: Tape
    var position = 0
    /// The innermost open container: its entry, what it is, the values in it so far.
    private(set) var container = 0
    /// A bit for the hash of each key so far, if it is an object.
    private var keyBits: UInt32 = 0
    private var isObject = false
    private var elements = 0
    private var depth = 0

    private init(_ source: Source, convertsKeys: Bool) {
        self.source = source
        self.convertsKeys = convertsKeys
        tape = Tape(forBytes: source.count)
    }

    /// The tape of a document, to be deallocated by the caller.
    static func tape(of source: Source, convertsKeys: Bool) throws(SyntaxFailure) -> Tape {
        guard source.count < UInt32.max else { throw SyntaxFailure(.tooLarge, at: 0) }
        var scanner = Scanner(source, convertsKeys: convertsKeys)
        do {
            try scanner.scan()
        } catch {
            scanner.tape.deallocate()
            throw error
        }
        return scanner.tape
    }

    private mutating func scan() throws(SyntaxFailure) {
        while true {
            skipSpace()
            if isObject {
                try scanKey()
                skipSpace()
            }
            switch source[position] {
            case Byte.quote:
                try scanString()
            case Byte.leftBrace:
                try open(.object)
                skipSpace()
                guard source[position] == Byte.rightBrace else { continue }
                close()
            case Byte.leftBracket:
                try open(.array)
                skipSpace()
                guard source[position] == Byte.rightBracket else { continue }
                close()
            case Byte.zero...Byte.nine, Byte.minus:
                try scanNumber()
            case UInt8(ascii: "t"):
                try scanLiteral("true", .true)
            case UInt8(ascii: "f"):
                try scanLiteral("false", .false)
            case UInt8(ascii: "n"):
                try scanLiteral("null", .null)
            default:
                throw SyntaxFailure(.unexpectedByte, at: position)
            }
            if try !goOn() { return }
        }
    }

    /// After a value: closes the containers that end here and steps to the next one; false at the end of the document.
    @inline(__always)
    private mutating func goOn() throws(SyntaxFailure) -> Bool {
        while depth > 0 {
            elements &+= 1
            skipSpace()
            let byte = source[position]
            if byte == Byte.comma {
                position &+= 1
                return true
            }
            guard byte == (isObject ? Byte.rightBrace : Byte.rightBracket) else {
                throw SyntaxFailure(.unexpectedByte, at: position)
            }
            close()
        }
        skipSpace()
        guard position == source.count else { throw SyntaxFailure(.trailingBytes, at: position) }
        return false
    }

    @inline(__always)
    mutating func skipSpace() {
        while true {
            let byte = source[position]
            guard byte <= Byte.space else { return }
            guard byte == Byte.space || byte == Byte.newline || byte == Byte.carriageReturn || byte == Byte.tab else {
                return
            }
            position &+= 1
        }
    }

    @inline(__always)
    private mutating func open(_ kind: Kind) throws(SyntaxFailure) {
        guard depth < Scanner.maximumDepth else { throw SyntaxFailure(.tooDeep, at: position) }
        let outer = container
        if depth > 0 {
            var entry = tape[outer]
            entry.setBody(high: entry.next, low: elements)
            entry.setPlace(Int(truncatingIfNeeded: keyBits))
            tape[outer] = entry
        }
        container = tape.count
        keyBits = 0
        tape.append(Entry(kind, at: 0, body: Entry.body(high: outer, low: 0)))
        depth &+= 1
        elements = 0
        isObject = kind == .object
        position &+= 1
    }

    @inline(__always)
    private mutating func close() {
        var entry = tape[container]
        let outer = entry.next
        entry.setBody(high: tape.count, low: elements)
        entry.setPlace(0)
        tape[container] = entry
        depth &-= 1
        position &+= 1
        guard depth > 0 else { return }
        container = outer
        isObject = tape[outer].kind == .object
        elements = tape[outer].count
        keyBits = UInt32(truncatingIfNeeded: tape[outer].place)
    }

    /// The keys of the innermost object cannot be compared by their bytes.
    mutating func markUncommonKeys() {
        var entry = tape[container]
        entry.set(.uncommonKeys)
        tape[container] = entry
    }

    /// Notes if a key of this hash was there before. Objects of many keys get an index, which needs no note.
    @inline(__always)
    mutating func noteKey(_ hash: UInt32) {
        let bit = 1 &<< (hash & 31)
        if keyBits & bit != 0, elements < KeyIndex.threshold { markRepeatedKeys(hash) }
        keyBits |= bit
    }

    @inline(never)
    private mutating func markRepeatedKeys(_ hash: UInt32) {
        var key = container + 1
        for _ in 0..<elements {
            if tape[key].hash == hash {
                var entry = tape[container]
                entry.set(.repeatedKeys)
                tape[container] = entry
                return
            }
            key = tape.index(after: key + 1)
        }
    }

    private mutating func scanLiteral(_ text: StaticString, _ kind: Kind) throws(SyntaxFailure) {
        let start = position
        for offset in 0..<text.utf8CodeUnitCount {
            guard source[position] == text.utf8Start[offset] else { throw SyntaxFailure(.unexpectedByte, at: position) }
            position &+= 1
        }
        tape.append(Entry(kind, at: start))
    }
}
