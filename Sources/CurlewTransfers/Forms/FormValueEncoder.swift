// SPDX-License-Identifier: MIT

import CurlewFoundation

/// Collects the fields of one value. Used by one call on one thread.
final class FormSink {
    let style: FormEncoder
    var fields: [(name: String, value: String)] = []
    private var lists = 0
    /// The list whose elements the last field contains.
    private var lastList: Int?

    init(style: FormEncoder) {
        self.style = style
    }

    /// Returns a number for a new list.
    func nextList() -> Int {
        lists += 1
        return lists
    }

    /// Appends a field, or appends to the field of the same joined list.
    func append(_ name: String, _ value: String, list: Int?) {
        if let list, list == lastList, case .joined(let separator) = style.lists, !fields.isEmpty {
            fields[fields.count - 1].value += separator + value
        } else {
            fields.append((name, value))
        }
        lastList = list
    }
}

struct FormValueEncoder: Encoder {
    let sink: FormSink
    /// The field's name so far; nil at the top level.
    let name: String?
    let codingPath: [any CodingKey]
    /// The number of the joined list whose element this is.
    var list: Int?
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// Values with a text form become fields, others encode themselves into fields.
    func write(_ value: any Encodable) throws {
        switch value {
        case let date as Date: try put(sink.style.text(of: date), value)
        case let data as Data: try put(data.base64EncodedString(), value)
        case let url as URL: try put(url.absoluteString, value)
        case let decimal as Decimal: try put(decimal.description, value)
        case let members as [String: any Encodable]:
            let encoder = try deeper(value)
            for (name, member) in members.ordered(by: { $0.key < $1.key }) {
                try encoder.member(FormKey(stringValue: name)).write(member)
            }
        default:
            try value.encode(to: deeper(value))
        }
    }

    private func deeper(_ value: Any) throws -> FormValueEncoder {
        guard codingPath.count <= FormEncoder.maximumLevels else {
            throw invalid(value, "The value nests deeper than \(FormEncoder.maximumLevels) levels.")
        }
        return self
    }

    func put(_ text: String, _ value: Any) throws {
        guard let name else {
            throw invalid(
                value,
                codingPath.isEmpty
                    ? "The top level of a form must be an object."
                    : "A form writes lists of texts and numbers in one field, but not lists of objects or of lists.")
        }
        sink.append(name, text, list: list)
    }

    func invalid(_ value: Any, _ why: String) -> EncodingError {
        .invalidValue(value, EncodingError.Context(codingPath: codingPath, debugDescription: why))
    }

    func member(_ key: some CodingKey) -> FormValueEncoder {
        let path = codingPath + [key]
        guard let name else { return FormValueEncoder(sink: sink, name: key.stringValue, codingPath: path) }
        // A joined list has no objects: without a name, writing a field throws.
        if list != nil { return FormValueEncoder(sink: sink, name: nil, codingPath: path) }
        let nested =
            switch sink.style.nesting {
            case .brackets: "\(name)[\(key.stringValue)]"
            case .dots: "\(name).\(key.stringValue)"
            }
        return FormValueEncoder(sink: sink, name: nested, codingPath: path)
    }

    /// Returns the encoder of the element at `index` of a list with this number.
    func element(_ index: Int, of number: Int) -> FormValueEncoder {
        let path = codingPath + [FormKey(index)]
        guard let name, list == nil else { return FormValueEncoder(sink: sink, name: nil, codingPath: path) }
        switch sink.style.lists {
        case .repeated: return FormValueEncoder(sink: sink, name: name, codingPath: path)
        case .brackets: return FormValueEncoder(sink: sink, name: name + "[]", codingPath: path)
        case .indices: return FormValueEncoder(sink: sink, name: "\(name)[\(index)]", codingPath: path)
        case .joined: return FormValueEncoder(sink: sink, name: name, codingPath: path, list: number)
        }
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(FormMembers<Key>(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        FormElements(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        FormScalar(encoder: self)
    }

    private struct FormKey: CodingKey {
        let stringValue: String
        let intValue: Int?

        init(stringValue: String) {
            self.stringValue = stringValue
            intValue = nil
        }

        init(intValue: Int) {
            self.init(intValue)
        }

        init(_ index: Int) {
            stringValue = "Index \(index)"
            intValue = index
        }
    }
}

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
