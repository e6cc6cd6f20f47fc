// SPDX-License-Identifier: MIT

/// Reads a document once from beginning to end, checks its complete grammar (RFC 8259), and writes the tape.
///
/// The scanner does not recurse: a stack in memory stores the state of the containers around the innermost one.
struct Scanner {
    /// The maximum depth of nested containers, as in Foundation.
    static let maximumDepth = 512

    let source: Source
    let keys: KeyReader
    var tape: Tape
    var position = 0
    /// The index of the innermost open container. `filter`, `isObject` and `elements` also describe this container;
    /// `elements` is the number of its values so far.
    private var container = 0
    /// A filter for the keys so far, if the container is an object.
    private var filter = KeyFilter()
    private var isObject = false
    private var elements = 0
    private var depth = 0
    /// The scanning state of the enclosing containers.
    private var outer = OuterContainers()

    @inline(__always) var convertsKeys: Bool { keys.convertsKeys }

    private init(_ keys: KeyReader) {
        source = keys.source
        self.keys = keys
        tape = Tape(forBytes: source.count)
    }

    /// Returns the tape of a document. The caller must deallocate it.
    static func tape(for keys: KeyReader) throws(SyntaxFailure) -> Tape {
        guard keys.source.count < UInt32.max else { throw SyntaxFailure(.tooLarge, at: 0) }
        var scanner = Scanner(keys)
        defer { scanner.outer.deallocate() }
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
                throw unexpectedByte()
            }
            if try !finishValue() { return }
        }
    }

    /// Continues after a value: closes the containers that end here, and advances past the comma before the next value.
    /// Returns false at the end of the document.
    @inline(__always)
    private mutating func finishValue() throws(SyntaxFailure) -> Bool {
        elements &+= 1
        skipSpace()
        if depth > 0, source[position] == Byte.comma {
            position &+= 1
            return true
        }
        return try endContainers()
    }

    @inline(never)
    private mutating func endContainers() throws(SyntaxFailure) -> Bool {
        while depth > 0 {
            let byte = source[position]
            if byte == Byte.comma {
                position &+= 1
                return true
            }
            guard byte == (isObject ? Byte.rightBrace : Byte.rightBracket) else {
                throw SyntaxFailure(.unexpectedByte, at: position)
            }
            close()
            skipSpace()
            elements &+= 1
        }
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
        let parent = depth > 0 ? UInt32(truncatingIfNeeded: container) : Tape.noParent
        if depth > 0 {
            let elements = UInt32(truncatingIfNeeded: elements)
            outer.append(OuterContainers.Element(container: parent, elements: elements, filter: filter))
        }
        container = tape.count
        filter = KeyFilter()
        tape.append(Cell(kind, at: Int(truncatingIfNeeded: parent)))
        depth &+= 1
        elements = 0
        isObject = kind == .object
        position &+= 1
    }

    @inline(__always)
    private mutating func close() {
        let cells = tape.count &- container
        if cells < Cell.smallCells, elements < (isObject ? KeyIndex.threshold &+ 1 : Cell.smallElements) {
            var head = tape[container]
            head.setSize(elements: elements, cells: cells)
            if head.has(.repeated), isObject, elements > Scanner.fewKeys { verifyRepeated(&head) }
            tape[container] = head
        } else {
            closeLarge()
        }
        depth &-= 1
        position &+= 1
        guard depth > 0 else { return }
        let last = outer.removeLast()
        container = Int(truncatingIfNeeded: last.container)
        isObject = tape[container].kind == .object
        elements = Int(truncatingIfNeeded: last.elements)
        filter = last.filter
    }

    /// Closes a large container: writes its trailer, including the table.
    @inline(never)
    private mutating func closeLarge() {
        var head = tape[container]
        let trailer = tape.count
        let table = trailer + Trailer.fixedCells
        let logarithm = isObject && elements > KeyIndex.threshold ? KeyIndex.logarithm(for: elements) : 0
        let slots = isObject ? (logarithm > 0 ? 1 << logarithm : 0) : ElementIndex.slots(for: elements)
        let parent = head.position
        tape.append(Cell(high: table + (slots + 1) / 2, low: elements))
        tape.append(Cell(high: parent, low: logarithm))
        for _ in 0..<(slots + 1) / 2 { tape.append(Cell(bits: 0)) }
        if !isObject {
            ElementIndex.fill(tape, container, count: elements, table: table)
        } else if logarithm > 0,
            KeyIndex.fill(tape, container, count: elements, table: table, logarithm: logarithm, keys)
        {
            head.set(.repeated)
        } else if logarithm > 0 {
            head.clear(.repeated)
        }
        head.setTrailer(trailer)
        tape[container] = head
    }

    /// Sets a flag of the innermost object.
    mutating func mark(_ flag: Cell.Flags) {
        var head = tape[container]
        head.set(flag)
        tape[container] = head
    }

    /// The maximum number of keys in an object in which a possibly repeated key is compared with the others one by one.
    private static var fewKeys: Int { 10 }

    /// Marks the object if it may already contain a key with this hash. At the end of an object with more than
    /// `fewKeys` keys, the mark is verified.
    @inline(__always)
    mutating func recordKey(_ hash: UInt64) {
        if filter.insert(hash) { mayRepeat(hash.keyTag) }
    }

    /// Marks the object if it contains a key with this tag. If there are more than `fewKeys` keys, some match the
    /// filter by chance, so the object is marked without a search, and the mark is verified at the end of the object.
    @inline(never)
    private mutating func mayRepeat(_ tag: UInt16) {
        guard elements <= Scanner.fewKeys else { return mark(.repeated) }
        var key = container + 1
        for _ in 0..<elements {
            key = tape.key(at: key)
            if tape[key].hash == tag { return mark(.repeated) }
            key = tape.index(after: key + 1)
        }
    }

    /// Removes the mark from an object without a table if no two of its keys have the same tag.
    @inline(never)
    private func verifyRepeated(_ head: inout Cell) {
        if !KeyIndex.hasRepeatedTags(tape, container, count: elements) { head.clear(.repeated) }
    }

    /// Returns the error for a byte that cannot begin a value.
    @inline(never)
    private func unexpectedByte() -> SyntaxFailure {
        let byte = source[position]
        let isNumber = (byte == Byte.point || byte == Byte.plus) && Byte.isDigit(source[position + 1])
        return SyntaxFailure(isNumber ? .invalidNumber : .unexpectedByte, at: position)
    }

    private mutating func scanLiteral(_ text: StaticString, _ kind: Kind) throws(SyntaxFailure) {
        let start = position
        for offset in 0..<text.utf8CodeUnitCount {
            guard source[position] == text.utf8Start[offset] else { throw SyntaxFailure(.unexpectedByte, at: position) }
            position &+= 1
        }
        tape.append(Cell(kind, at: start))
    }
}
