// SPDX-License-Identifier: MIT

/// Encodes the members of an object: each becomes a field, or fields whose names begin with its name.
struct FormMembers<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: FormValueEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }

    mutating func encodeNil(forKey key: Key) {}

    mutating func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        try encoder.member(key).write(value)
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        encoder.member(key).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder.member(key).unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder { encoder }

    mutating func superEncoder(forKey key: Key) -> any Encoder {
        encoder.member(key)
    }
}

/// Encodes the elements of a list, in the form that `FormEncoder.lists` chooses.
struct FormElements: UnkeyedEncodingContainer {
    let encoder: FormValueEncoder
    private let number: Int
    private(set) var count = 0
    var codingPath: [any CodingKey] { encoder.codingPath }

    init(encoder: FormValueEncoder) {
        self.encoder = encoder
        number = encoder.sink.nextList()
    }

    private mutating func next() -> FormValueEncoder {
        defer { count += 1 }
        return encoder.element(count, of: number)
    }

    mutating func encodeNil() {
        count += 1
    }

    mutating func encode<Value: Encodable>(_ value: Value) throws {
        try next().write(value)
    }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        next().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        next().unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder {
        next()
    }
}

/// Encodes a single text, number or truth value as a field.
struct FormScalar: SingleValueEncodingContainer {
    let encoder: FormValueEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }

    mutating func encodeNil() {}
    mutating func encode(_ value: Bool) throws { try encoder.put(value.description, value) }
    mutating func encode(_ value: String) throws { try encoder.put(value, value) }
    mutating func encode(_ value: Double) throws { try encoder.put(value.description, value) }
    mutating func encode(_ value: Float) throws { try encoder.put(value.description, value) }
    mutating func encode(_ value: Int) throws { try encoder.put(value.description, value) }
    mutating func encode(_ value: Int8) throws { try encoder.put(value.description, value) }
    mutating func encode(_ value: Int16) throws { try encoder.put(value.description, value) }
    mutating func encode(_ value: Int32) throws { try encoder.put(value.description, value) }
    mutating func encode(_ value: Int64) throws { try encoder.put(value.description, value) }
    mutating func encode(_ value: UInt) throws { try encoder.put(value.description, value) }
    mutating func encode(_ value: UInt8) throws { try encoder.put(value.description, value) }
    mutating func encode(_ value: UInt16) throws { try encoder.put(value.description, value) }
    mutating func encode(_ value: UInt32) throws { try encoder.put(value.description, value) }
    mutating func encode(_ value: UInt64) throws { try encoder.put(value.description, value) }

    mutating func encode<Value: Encodable>(_ value: Value) throws {
        try encoder.write(value)
    }
}
