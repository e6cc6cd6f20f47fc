// SPDX-License-Identifier: MIT

import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Encodes values as `application/x-www-form-urlencoded` (WHATWG URL §5).
///
/// Members become fields in their order, nested members become `a[b]`, elements of a list repeat the name, and nil is
/// omitted. The members of a dictionary are sorted by name, so that equal values produce equal forms. Dates are ISO
/// 8601, data is Base64, URLs are absolute text.
struct FormEncoder {
    /// The maximum nesting depth of values.
    static let mostLevels = 64

    func encode(_ value: any Encodable) throws -> Data {
        let sink = FormSink()
        try FormValueEncoder(sink: sink, name: nil, codingPath: []).write(value)
        return Data(Self.text(of: sink.fields).utf8)
    }

    static func text(of fields: some Sequence<(name: String, value: String)>) -> String {
        fields.map {
            PercentCoding.encode($0.name, for: .formValue) + "=" + PercentCoding.encode($0.value, for: .formValue)
        }.joined(separator: "&")
    }
}

/// Collects the fields of one value. Used by one call on one thread.
final class FormSink {
    var fields: [(name: String, value: String)] = []
}

/// The encoder of one position in the value. `name` is the field's name so far, nil at the top level.
struct FormValueEncoder: Encoder {
    let sink: FormSink
    let name: String?
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// Values with a text form become fields, others encode themselves into fields.
    func write(_ value: any Encodable) throws {
        switch value {
        case let date as Date: try put(date.formatted(.iso8601), value)
        case let data as Data: try put(data.base64EncodedString(), value)
        case let url as URL: try put(url.absoluteString, value)
        case let decimal as Decimal: try put(decimal.description, value)
        case let members as [String: any Encodable]:
            let encoder = try deeper(value)
            for (name, member) in members.sorted(by: { $0.key < $1.key }) {
                try encoder.member(FormKey(stringValue: name)).write(member)
            }
        default:
            try value.encode(to: deeper(value))
        }
    }

    private func deeper(_ value: Any) throws -> FormValueEncoder {
        guard codingPath.count <= FormEncoder.mostLevels else {
            throw invalid(value, "The value nests deeper than \(FormEncoder.mostLevels) levels.")
        }
        return self
    }

    func put(_ text: String, _ value: Any) throws {
        guard let name else { throw invalid(value, "The top level of a form must be an object.") }
        sink.fields.append((name, text))
    }

    func invalid(_ value: Any, _ why: String) -> EncodingError {
        .invalidValue(value, EncodingError.Context(codingPath: codingPath, debugDescription: why))
    }

    func member(_ key: some CodingKey) -> FormValueEncoder {
        FormValueEncoder(
            sink: sink, name: name.map { "\($0)[\(key.stringValue)]" } ?? key.stringValue,
            codingPath: codingPath + [key])
    }

    func element() -> FormValueEncoder {
        FormValueEncoder(sink: sink, name: name, codingPath: codingPath + [FormKey(stringValue: "element")])
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
        var intValue: Int? { nil }

        init(stringValue: String) {
            self.stringValue = stringValue
        }

        init?(intValue: Int) { nil }
    }
}
