// SPDX-License-Identifier: MIT

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    /// `null`.
    public init(nilLiteral: ()) {
        self = .null
    }

    /// A Boolean.
    public init(booleanLiteral value: Bool) {
        self = .bool(value)
    }

    /// A whole number.
    public init(integerLiteral value: Int64) {
        self = .integer(value)
    }

    /// A number.
    public init(floatLiteral value: Double) {
        self = .number(value)
    }

    /// A string.
    public init(stringLiteral value: String) {
        self = .string(value)
    }

    /// An array.
    public init(arrayLiteral elements: JSONValue...) {
        self = .array(elements)
    }

    /// An object with its members in their order; of members with one name the last stays.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        var members = JSONObject(minimumCapacity: elements.count)
        for (name, value) in elements { members[name] = value }
        self = .object(members)
    }
}

/// Values that are variables rather than literals: `["name": .init(name), "age": .init(age)]`.
extension JSONValue {
    /// A string; nil gives `null`.
    public init(_ value: String?) {
        self = value.map(JSONValue.string) ?? .null
    }

    /// A Boolean; nil gives `null`.
    public init(_ value: Bool?) {
        self = value.map(JSONValue.bool) ?? .null
    }

    /// A whole number; nil gives `null`, one beyond 64 bits a `Double`.
    public init<Number: BinaryInteger>(_ value: Number?) {
        guard let value else {
            self = .null
            return
        }
        if let exact = Int64(exactly: value) {
            self = .integer(exact)
        } else {
            self = UInt64(exactly: value).map(JSONValue.unsigned) ?? .number(Double(value))
        }
    }

    /// A number; nil gives `null`.
    public init(_ value: Double?) {
        self = value.map(JSONValue.number) ?? .null
    }

    /// An object; nil gives `null`.
    public init(_ value: JSONObject?) {
        self = value.map(JSONValue.object) ?? .null
    }

    /// An array; nil gives `null`.
    public init(_ value: [JSONValue]?) {
        self = value.map(JSONValue.array) ?? .null
    }
}
