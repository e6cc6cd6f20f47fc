// SPDX-License-Identifier: MIT

import CurlewFoundation

extension JSONValue: Codable {
    /// Decodes any JSON value. The limit on the nesting depth is that of the decoder.
    ///
    /// `FastJSONDecoder` creates the value directly. Other decoders reveal the type of a value only by rejecting other
    /// types. That is slow, so the most frequent types are tried first.
    public init(from decoder: any Decoder) throws {
        if let decoder = decoder as? ValueDecoder {
            self = try decoder.jsonValue()
            return
        }
        let scalar = try decoder.singleValueContainer()
        if scalar.decodeNil() {
            self = .null
        } else if let value = try? scalar.decode(String.self) {
            self = .string(value)
        } else if let value = try? scalar.decode(Int64.self) {
            self = .integer(value)
        } else if let members = try? decoder.container(keyedBy: MemberKey.self) {
            self = .object(try Self.members(of: members))
        } else if let elements = try? decoder.unkeyedContainer() {
            self = .array(try Self.elements(of: elements))
        } else if let value = try? scalar.decode(UInt64.self) {
            self = .unsigned(value)
        } else if let value = try? scalar.decode(Bool.self) {
            self = .bool(value)
        } else {
            self = .number(try scalar.decode(Double.self))
        }
    }

    private static func members(of container: KeyedDecodingContainer<MemberKey>) throws -> JSONValue.Object {
        var members = JSONValue.Object()
        for key in container.allKeys { members[key.stringValue] = try container.decode(JSONValue.self, forKey: key) }
        return members
    }

    private static func elements(of container: any UnkeyedDecodingContainer) throws -> [JSONValue] {
        var container = container
        var elements: [JSONValue] = []
        while !container.isAtEnd { elements.append(try container.decode(JSONValue.self)) }
        return elements
    }

    /// Encodes the value. Foundation's encoder does not keep the order of members, and throws for a number that is
    /// infinite or NaN. A request body that is itself a `JSONValue` keeps the order.
    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .array(let elements):
            var container = encoder.unkeyedContainer()
            for element in elements { try container.encode(element) }
        case .object(let members):
            var container = encoder.container(keyedBy: MemberKey.self)
            for (key, value) in members { try container.encode(value, forKey: MemberKey(stringValue: key)) }
        default:
            var container = encoder.singleValueContainer()
            try encodeScalar(into: &container)
        }
    }

    private func encodeScalar(into container: inout any SingleValueEncodingContainer) throws {
        switch self {
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .unsigned(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .null, .array, .object: try container.encodeNil()
        }
    }

    private struct MemberKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) {
            self.stringValue = stringValue
        }

        init?(intValue: Int) { nil }
    }
}

extension JSONValue: CustomStringConvertible {
    /// The value as JSON on one line, with members sorted by name. Secrets are not redacted. If a number is infinite or
    /// NaN, the description only states this.
    public var description: String {
        encoded(sortsMembers: true).map { String(decoding: $0, as: UTF8.self) } ?? "a number that JSON cannot represent"
    }
}
