// SPDX-License-Identifier: MIT

/// A decoder for one value. It is also the single-value container of that value. It is small enough to be stored as an
/// existential without an allocation.
struct ValueDecoder: Decoder, SingleValueDecodingContainer {
    let document: Document
    private let cell: UInt32
    /// The index of the container around the value, for the coding paths of errors.
    private let parent: UInt32

    @inline(__always)
    init(document: Document, index: Int, parent: UInt32) {
        self.document = document
        cell = UInt32(truncatingIfNeeded: index)
        self.parent = parent
    }

    @inline(__always) var index: Int { Int(truncatingIfNeeded: cell) }
    var codingPath: [any CodingKey] { document.path(to: index, in: parent) }
    var userInfo: [CodingUserInfoKey: Any] { document.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard document.tape[index].kind == .object else {
            throw document.noContainer([String: Any].self, "keyed", at: index, in: parent)
        }
        try document.enter(index)
        return KeyedDecodingContainer(KeyedContainer<Key>(document: document, object: index))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard document.tape[index].kind == .array else {
            throw document.noContainer([Any].self, "unkeyed", at: index, in: parent)
        }
        try document.enter(index)
        return UnkeyedContainer(document: document, array: index)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { document.tape[index].kind == .null }

    func decode(_ type: Bool.Type) throws -> Bool { try document.scalar(type, at: index, in: parent) }
    func decode(_ type: String.Type) throws -> String { try document.scalar(type, at: index, in: parent) }
    func decode(_ type: Double.Type) throws -> Double { try document.scalar(type, at: index, in: parent) }
    func decode(_ type: Float.Type) throws -> Float { try document.scalar(type, at: index, in: parent) }
    func decode(_ type: Int.Type) throws -> Int { try document.scalar(type, at: index, in: parent) }
    func decode(_ type: Int8.Type) throws -> Int8 { try document.scalar(type, at: index, in: parent) }
    func decode(_ type: Int16.Type) throws -> Int16 { try document.scalar(type, at: index, in: parent) }
    func decode(_ type: Int32.Type) throws -> Int32 { try document.scalar(type, at: index, in: parent) }
    func decode(_ type: Int64.Type) throws -> Int64 { try document.scalar(type, at: index, in: parent) }
    func decode(_ type: UInt.Type) throws -> UInt { try document.scalar(type, at: index, in: parent) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try document.scalar(type, at: index, in: parent) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try document.scalar(type, at: index, in: parent) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try document.scalar(type, at: index, in: parent) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try document.scalar(type, at: index, in: parent) }

    @available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
    func decode(_ type: Int128.Type) throws -> Int128 { try document.scalar(type, at: index, in: parent) }

    @available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
    func decode(_ type: UInt128.Type) throws -> UInt128 { try document.scalar(type, at: index, in: parent) }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try document.value(type, at: index, in: parent)
    }

    /// Reads any value without creating a container.
    func jsonValue() throws -> JSONValue { try document.jsonValue(at: index, in: parent) }
}

/// A decoder for a missing `super` value. It decodes a null, as Foundation's decoder does in this case.
struct NullDecoder: Decoder, SingleValueDecodingContainer {
    let codingPath: [any CodingKey]
    let userInfo: [CodingUserInfoKey: Any]
    let convertsKeys: Bool

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        throw noContainer([String: Any].self, "keyed")
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw noContainer([Any].self, "unkeyed") }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { true }

    func decode(_ type: Bool.Type) throws -> Bool { throw Document.mismatch(type, .null, codingPath) }
    func decode(_ type: String.Type) throws -> String { throw Document.null(type, codingPath) }
    func decode(_ type: Double.Type) throws -> Double { throw Document.null(type, codingPath) }
    func decode(_ type: Float.Type) throws -> Float { throw Document.null(type, codingPath) }
    func decode(_ type: Int.Type) throws -> Int { throw Document.null(type, codingPath) }
    func decode(_ type: Int8.Type) throws -> Int8 { throw Document.null(type, codingPath) }
    func decode(_ type: Int16.Type) throws -> Int16 { throw Document.null(type, codingPath) }
    func decode(_ type: Int32.Type) throws -> Int32 { throw Document.null(type, codingPath) }
    func decode(_ type: Int64.Type) throws -> Int64 { throw Document.null(type, codingPath) }
    func decode(_ type: UInt.Type) throws -> UInt { throw Document.null(type, codingPath) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { throw Document.null(type, codingPath) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { throw Document.null(type, codingPath) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { throw Document.null(type, codingPath) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { throw Document.null(type, codingPath) }

    @available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
    func decode(_ type: Int128.Type) throws -> Int128 { throw Document.null(type, codingPath) }

    @available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
    func decode(_ type: UInt128.Type) throws -> UInt128 { throw Document.null(type, codingPath) }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if Document.isSpecial(type) { throw Document.null(type, codingPath) }
        // If keys are converted, Foundation decodes dictionaries without their `init(from:)` and reports a missing
        // dictionary.
        if convertsKeys, type is any DecodableDictionary.Type {
            throw Document.null([String: Any].self, codingPath)
        }
        return try Value(from: self)
    }

    private func noContainer(_ type: Any.Type, _ name: String) -> DecodingError {
        Document.noContainer(type, name, codingPath)
    }
}
