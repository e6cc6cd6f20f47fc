// SPDX-License-Identifier: MIT

/// An unkeyed container that decodes the elements of an array in order. An element that cannot be decoded remains the
/// next element.
struct UnkeyedContainer: UnkeyedDecodingContainer {
    let document: Document
    private let array: UInt32
    private var next: UInt32
    private(set) var currentIndex = 0

    init(document: Document, array: Int) {
        self.document = document
        self.array = UInt32(truncatingIfNeeded: array)
        next = self.array + 1
    }

    var codingPath: [any CodingKey] { document.path(to: Int(array)) }
    @inline(__always) private var elements: Int { document.tape.elements(document.tape[Int(array)]) }
    var count: Int? { elements }
    var isAtEnd: Bool { currentIndex >= elements }

    mutating func decodeNil() throws -> Bool {
        guard document.tape[try index(Never.self)].kind == .null else { return false }
        advance()
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let value = try document.value(type, at: try index(type), in: array)
        advance()
        return value
    }

    mutating func decodeIfPresent<Value: Decodable>(_ type: Value.Type) throws -> Value? {
        try skipsNull() ? nil : decode(type)
    }

    // Decoding an array of scalars uses no container, so these functions need not be inlined.

    @inline(never)
    mutating func scalar<Value: ScalarValue>(_ type: Value.Type) throws -> Value {
        let value = try document.scalar(type, at: try index(type), in: array)
        advance()
        return value
    }

    mutating func scalarIfPresent<Value: ScalarValue>(_ type: Value.Type) throws -> Value? {
        try skipsNull() ? nil : scalar(type)
    }

    /// Returns whether the next element is a null, or there are no more elements; then advances.
    @inline(never)
    private mutating func skipsNull() -> Bool {
        guard indexIfPresent() == nil else { return false }
        advance()
        return true
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        let index = try index(KeyedDecodingContainer<NestedKey>.self)
        let container = try ValueDecoder(document: document, index: index, parent: array).container(keyedBy: type)
        advance()
        return container
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let index = try index((any UnkeyedDecodingContainer).self)
        let container = try ValueDecoder(document: document, index: index, parent: array).unkeyedContainer()
        advance()
        return container
    }

    mutating func superDecoder() throws -> any Decoder {
        let index = try index((any Decoder).self, atEnd: "Cannot get superDecoder() -- unkeyed container is at end.")
        let decoder = ValueDecoder(document: document, index: index, parent: array)
        advance()
        return decoder
    }

    @inline(never)
    private func index(_ type: Any.Type, atEnd text: StaticString = "Unkeyed container is at end.") throws -> Int {
        guard currentIndex < elements else {
            throw DecodingError.valueNotFound(
                type,
                DecodingError.Context(
                    codingPath: codingPath + [PathKey.index(currentIndex)], debugDescription: "\(text)"))
        }
        return Int(next)
    }

    /// Returns the index of the next element; nil if the element is a null, or if there are no more elements.
    @inline(__always)
    private func indexIfPresent() -> Int? {
        guard currentIndex < elements, document.tape[Int(next)].kind != .null else { return nil }
        return Int(next)
    }

    /// Advances to the next element. At the end, only `currentIndex` is increased, as in Foundation.
    @inline(__always)
    private mutating func advance() {
        if currentIndex < elements {
            next = UInt32(truncatingIfNeeded: document.tape.index(after: Int(next)))
        }
        currentIndex += 1
    }
}

/// Decodes scalar types. The protocol requires one method for each type.
extension UnkeyedContainer {
    mutating func decode(_ type: Bool.Type) throws -> Bool { try scalar(type) }
    mutating func decode(_ type: String.Type) throws -> String { try scalar(type) }
    mutating func decode(_ type: Double.Type) throws -> Double { try scalar(type) }
    mutating func decode(_ type: Float.Type) throws -> Float { try scalar(type) }
    mutating func decode(_ type: Int.Type) throws -> Int { try scalar(type) }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try scalar(type) }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try scalar(type) }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try scalar(type) }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try scalar(type) }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try scalar(type) }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try scalar(type) }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try scalar(type) }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try scalar(type) }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try scalar(type) }

    @available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
    mutating func decode(_ type: Int128.Type) throws -> Int128 { try scalar(type) }

    @available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try scalar(type) }

    mutating func decodeIfPresent(_ type: Bool.Type) throws -> Bool? { try scalarIfPresent(type) }
    mutating func decodeIfPresent(_ type: String.Type) throws -> String? { try scalarIfPresent(type) }
    mutating func decodeIfPresent(_ type: Double.Type) throws -> Double? { try scalarIfPresent(type) }
    mutating func decodeIfPresent(_ type: Float.Type) throws -> Float? { try scalarIfPresent(type) }
    mutating func decodeIfPresent(_ type: Int.Type) throws -> Int? { try scalarIfPresent(type) }
    mutating func decodeIfPresent(_ type: Int8.Type) throws -> Int8? { try scalarIfPresent(type) }
    mutating func decodeIfPresent(_ type: Int16.Type) throws -> Int16? { try scalarIfPresent(type) }
    mutating func decodeIfPresent(_ type: Int32.Type) throws -> Int32? { try scalarIfPresent(type) }
    mutating func decodeIfPresent(_ type: Int64.Type) throws -> Int64? { try scalarIfPresent(type) }
    mutating func decodeIfPresent(_ type: UInt.Type) throws -> UInt? { try scalarIfPresent(type) }
    mutating func decodeIfPresent(_ type: UInt8.Type) throws -> UInt8? { try scalarIfPresent(type) }
    mutating func decodeIfPresent(_ type: UInt16.Type) throws -> UInt16? { try scalarIfPresent(type) }
    mutating func decodeIfPresent(_ type: UInt32.Type) throws -> UInt32? { try scalarIfPresent(type) }
    mutating func decodeIfPresent(_ type: UInt64.Type) throws -> UInt64? { try scalarIfPresent(type) }

    @available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
    mutating func decodeIfPresent(_ type: Int128.Type) throws -> Int128? { try scalarIfPresent(type) }

    @available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
    mutating func decodeIfPresent(_ type: UInt128.Type) throws -> UInt128? { try scalarIfPresent(type) }
}
