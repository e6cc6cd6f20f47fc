// SPDX-License-Identifier: MIT

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
