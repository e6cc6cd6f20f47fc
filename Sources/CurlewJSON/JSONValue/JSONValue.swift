// SPDX-License-Identifier: MIT

/// Any JSON document, for bodies and answers that have no model.
///
///     try await client.send(.post("/users", json: ["name": "Ann", "tags": ["new"], "age": 31]))
///     let document: JSONValue = try await client.send(.get("/users/1"))
///     let city = document["address"]["city"].string
///
/// Reading never fails: a subscript of what is not there, or is something else, is `.null`. Whole numbers are exact up
/// to 64 bits; anything else is the nearest `Double`, and decoding fails only where that is infinite. Members keep the
/// order in which they are written or read, also in the body of a request; equality does not ask for it.
public enum JSONValue: Sendable, Hashable {
    /// `null`, and what is not there.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A whole number that `Int64` holds.
    case integer(Int64)
    /// A whole number that only `UInt64` holds.
    case unsigned(UInt64)
    /// Any other number.
    case number(Double)
    /// A string.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object.
    case object(JSONObject)

    /// The member `key`; `.null` without one. Setting makes an object of anything else.
    public subscript(key: String) -> JSONValue {
        get { object?[key] ?? .null }
        set {
            var members = object ?? JSONObject()
            members[key] = newValue
            self = .object(members)
        }
    }

    /// The element at `index`; `.null` without one. Setting works for elements that are there.
    public subscript(index: Int) -> JSONValue {
        get {
            guard case .array(let elements) = self, elements.indices.contains(index) else { return .null }
            return elements[index]
        }
        set {
            guard case .array(var elements) = self, elements.indices.contains(index) else { return }
            elements[index] = newValue
            self = .array(elements)
        }
    }
}

/// The value as a Swift type; nil when it is something else.
extension JSONValue {
    /// True for `null` and what is not there.
    public var isNull: Bool { self == .null }

    /// The Boolean.
    public var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The whole number, if `Int` holds it; also of a `Double` without a fraction.
    public var int: Int? {
        switch self {
        case .integer(let value): Int(exactly: value)
        case .unsigned(let value): Int(exactly: value)
        case .number(let value): Int(exactly: value)
        default: nil
        }
    }

    /// The number, rounded where a `Double` cannot hold it.
    public var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .unsigned(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }

    /// The text.
    public var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The elements.
    public var array: [JSONValue]? {
        if case .array(let value) = self { value } else { nil }
    }

    /// The members.
    public var object: JSONObject? {
        if case .object(let value) = self { value } else { nil }
    }
}
