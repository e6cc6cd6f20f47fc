// SPDX-License-Identifier: MIT

extension Document {
    /// Reads an array of scalars without a container, and without calling `init(from:)` for each element.
    func scalars<Element: ScalarValue>(_ type: Element.Type, at index: Int) throws -> [Element] {
        let count = tape.elements(tape[index])
        var result: [Element] = []
        result.reserveCapacity(count)
        var element = index &+ 1
        for _ in 0..<count {
            guard let value = Element.read(self, element) else {
                throw failure(type, at: element, in: UInt32(truncatingIfNeeded: index))
            }
            result.append(value)
            element = tape.index(after: element)
        }
        return result
    }

    /// Reads a dictionary with its keys as written. If several keys are equal, the first is used.
    ///
    /// The values of the other equal keys are not read, unless keys are converted: Foundation then reads all values.
    @inline(__always)
    func dictionary<Value: Decodable>(
        at index: Int, _ read: (Int) throws -> Value
    ) throws -> [String: Value] {
        try enter(index)
        let head = tape[index]
        if head.has(.crowded) { throw crowdedKey(in: index) }
        guard convertsKeys else { return try members(of: index, head, read) }
        let isConfined = isConfined
        if isConfined { paths.leave(to: UInt32(truncatingIfNeeded: index)) }
        defer { if isConfined { paths.leave(to: UInt32(truncatingIfNeeded: index)) } }
        return try DictionaryFrame.reading(index, of: self) { try members(of: index, head, read) }
    }

    @inline(__always)
    private func members<Value: Decodable>(
        of index: Int, _ head: Cell, _ read: (Int) throws -> Value
    ) throws -> [String: Value] {
        var result: [String: Value] = [:]
        result.reserveCapacity(reservation(tape.elements(head), MemoryLayout<(String, Value)>.stride))
        // Keys with different bytes may be equal as strings.
        let mayRepeat = head.has(.repeated) || head.has(.foreign)
        try forEachKey(of: index) { key in
            let name = keys.text(at: key, in: tape)
            guard mayRepeat else {
                result[name] = try read(key &+ 1)
                return
            }
            let isKnown = result[name] != nil
            if isKnown, !convertsKeys { return }
            let value = try read(key &+ 1)
            if !isKnown { result[name] = value }
        }
        return result
    }

    func dictionary<Value: ScalarValue>(_ type: Value.Type, at index: Int) throws -> [String: Value] {
        try dictionary(at: index) { try scalar(type, at: $0, in: UInt32(truncatingIfNeeded: index)) }
    }

    /// Returns the initial capacity for a number of elements. The size of the document limits it; the collection grows
    /// as values are read.
    func reservation(_ count: Int, _ stride: Int) -> Int {
        min(count, max(64, source.count / max(stride / 4, 1)))
    }
}

/// A protocol to which only `Array`s of decodable elements conform, so that their metatypes can be recognized.
protocol DecodableArray {
    /// Reads the array. `Value` must be `Self`; the protocol cannot express this requirement.
    static func read<Value>(_ document: Document, _ index: Int) throws -> Value
}

extension Array: DecodableArray where Element: Decodable {
    static func read<Value>(_ document: Document, _ index: Int) throws -> Value {
        if let scalar = Element.self as? any ScalarValue.Type { return try readScalars(scalar, document, index) }
        try document.enter(index)
        let count = document.tape.elements(document.tape[index])
        var result: [Element] = []
        result.reserveCapacity(document.reservation(count, MemoryLayout<Element>.stride))
        var element = index + 1
        for _ in 0..<count {
            result.append(try document.value(Element.self, at: element, in: UInt32(truncatingIfNeeded: index)))
            element = document.tape.index(after: element)
        }
        return try identical(result)
    }

    /// Reads an array of scalars. `Scalar` must be `Element`; the compiler cannot prove this.
    private static func readScalars<Scalar: ScalarValue, Value>(
        _ type: Scalar.Type, _ document: Document, _ index: Int
    ) throws -> Value {
        try identical(Scalar.readAll(document, index))
    }
}

extension ScalarValue {
    /// Reads an array of scalars of this type.
    static func readAll(_ document: Document, _ index: Int) throws -> [Self] {
        try document.scalars(Self.self, at: index)
    }
}

/// A protocol to which only `Dictionary`s with string keys and decodable values conform, so that their metatypes can be
/// recognized.
protocol DecodableDictionary {
    /// Reads the dictionary. `Result` must be `Self`; the protocol cannot express this requirement.
    static func read<Result>(_ document: Document, _ index: Int) throws -> Result
}

extension Dictionary: DecodableDictionary where Key == String, Value: Decodable {
    static func read<Result>(_ document: Document, _ index: Int) throws -> Result {
        try identical(
            document.dictionary(at: index) {
                try document.value(Value.self, at: $0, in: UInt32(truncatingIfNeeded: index))
            })
    }
}

/// The table in the trailer of a large array. It holds the position of every 128th element, so that the index of an
/// element in the coding path of an error is found quickly.
///
/// A slot holds the distance of the element from the array, in cells.
enum ElementIndex {
    private static let step = 128

    static func slots(for elements: Int) -> Int { max(0, elements - 1) / step }

    static func fill(_ tape: Tape, _ array: Int, count: Int, table: Int) {
        var element = array + 1
        for number in 0..<count {
            if number > 0, number % step == 0 {
                tape.setSlot(number / step - 1, ofTableAt: table, to: element - array)
            }
            element = tape.index(after: element)
        }
    }

    /// Returns the nearest element with a known index, at or before the cell `index`, and its index in the array. In a
    /// large array, it is less than 128 elements away; in a small array, it is the first element.
    static func nearest(to index: Int, in array: Int, _ tape: Tape) -> (element: Int, number: Int) {
        let head = tape[array]
        guard head.has(.extra) else { return (array + 1, 0) }
        let table = head.position + Trailer.fixedCells
        // A binary search for the last slot whose element is not after `index`.
        var low = 0
        var high = slots(for: tape.elements(head))
        while low < high {
            let middle = (low + high) / 2
            if array + tape.slot(middle, ofTableAt: table) <= index { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? (array + 1, 0) : (array + tape.slot(low - 1, ofTableAt: table), low * step)
    }
}
