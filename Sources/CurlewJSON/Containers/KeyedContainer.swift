// SPDX-License-Identifier: MIT

/// A keyed container that reads a JSON object with the keys of a model.
///
/// The container retains the document, because a model may keep the container. The standard library boxes the container
/// and copies it for every field, so it stores as little as possible.
struct KeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let document: Document
    let object: Int

    var codingPath: [any CodingKey] { document.path(to: object) }

    /// The keys of the object that the model knows, in the order of the document. Foundation specifies no order.
    var allKeys: [Key] { document.names(of: object).compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { document.sharedFind(key.stringValue, in: object) != nil }

    func decodeNil(forKey key: Key) throws -> Bool { document.tape[try sharedIndex(of: key)].kind == .null }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try document.value(type, at: try index(of: key), in: UInt32(truncatingIfNeeded: object))
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        guard let index = indexIfPresent(of: key) else { return nil }
        return try document.value(type, at: index, in: UInt32(truncatingIfNeeded: object))
    }

    @inline(__always)
    func index(of key: Key) throws -> Int {
        guard let index = document.find(key.stringValue, in: object) else { throw document.missing(key, in: object) }
        return index
    }

    /// Returns the index of the value of a key; nil if the key is missing or its value is a null.
    @inline(__always)
    func indexIfPresent(of key: Key) -> Int? {
        guard let index = document.find(key.stringValue, in: object), document.tape[index].kind != .null else {
            return nil
        }
        return index
    }

    @inline(__always)
    func scalar<Value: ScalarValue>(_ type: Value.Type, _ key: Key) throws -> Value {
        try read(type, at: try index(of: key), key)
    }

    @inline(__always)
    func scalarIfPresent<Value: ScalarValue>(_ type: Value.Type, _ key: Key) throws -> Value? {
        try indexIfPresent(of: key).map { try read(type, at: $0, key) }
    }

    // For types that are rare in models: inlined into all methods, the search would be a third of the module's code.

    func rare<Value: ScalarValue>(_ type: Value.Type, _ key: Key) throws -> Value {
        try read(type, at: try sharedIndex(of: key), key)
    }

    func rareIfPresent<Value: ScalarValue>(_ type: Value.Type, _ key: Key) throws -> Value? {
        guard let index = document.sharedFind(key.stringValue, in: object), document.tape[index].kind != .null else {
            return nil
        }
        return try read(type, at: index, key)
    }

    private func sharedIndex(of key: Key) throws -> Int {
        guard let index = document.sharedFind(key.stringValue, in: object) else {
            throw document.missing(key, in: object)
        }
        return index
    }

    @inline(__always)
    private func read<Value: ScalarValue>(_ type: Value.Type, at index: Int, _ key: Key) throws -> Value {
        guard let value = Value.read(document, index) else { throw failure(type, index, key) }
        return value
    }

    @inline(never)
    private func failure(_ type: Any.Type, _ index: Int, _ key: Key) -> DecodingError {
        document.failure(type, at: index, in: UInt32(truncatingIfNeeded: object), key: key)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try decoder(for: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder(for: key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { superDecoder(PathKey.super) }

    func superDecoder(forKey key: Key) throws -> any Decoder { superDecoder(key) }

    private func decoder(for key: Key) throws -> ValueDecoder { decoder(at: try sharedIndex(of: key)) }

    private func decoder(at index: Int) -> ValueDecoder {
        ValueDecoder(document: document, index: index, parent: UInt32(truncatingIfNeeded: object))
    }

    private func superDecoder(_ key: some CodingKey) -> any Decoder {
        if let index = document.sharedFind(key.stringValue, in: object) { return decoder(at: index) }
        return NullDecoder(
            codingPath: codingPath + [key], userInfo: document.userInfo, convertsKeys: document.convertsKeys)
    }
}

/// Decodes scalar types. The protocol requires one method for each type.
extension KeyedContainer {
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try scalar(type, key) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try scalar(type, key) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try scalar(type, key) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try rare(type, key) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try scalar(type, key) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try rare(type, key) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try rare(type, key) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try rare(type, key) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try rare(type, key) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try rare(type, key) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try rare(type, key) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try rare(type, key) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try rare(type, key) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try rare(type, key) }

    @available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try rare(type, key) }

    @available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try rare(type, key) }

    // The default implementations of the standard library search three times: for the key, for a null, and for the
    // value.

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try scalarIfPresent(type, key) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try scalarIfPresent(type, key) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try scalarIfPresent(type, key) }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try rareIfPresent(type, key) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try scalarIfPresent(type, key) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try rareIfPresent(type, key) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try rareIfPresent(type, key) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try rareIfPresent(type, key) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try rareIfPresent(type, key) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try rareIfPresent(type, key) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try rareIfPresent(type, key) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try rareIfPresent(type, key) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try rareIfPresent(type, key) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try rareIfPresent(type, key) }

    @available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
    func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? { try rareIfPresent(type, key) }

    @available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
    func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? { try rareIfPresent(type, key) }
}
