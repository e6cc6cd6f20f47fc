// SPDX-License-Identifier: MIT

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    /// Creates `null` from `nil`.
    public init(nilLiteral: ()) {
        self = .null
    }

    /// Creates a Boolean from `true` or `false`.
    public init(booleanLiteral value: Bool) {
        self = .bool(value)
    }

    /// Creates an integer from a literal. The literal must fit `Int64`.
    public init(integerLiteral value: Int64) {
        self = .integer(value)
    }

    /// Creates a floating-point number from a literal.
    public init(floatLiteral value: Double) {
        self = .number(value)
    }

    /// Creates a string from a literal, with or without interpolation.
    public init(stringLiteral value: String) {
        self = .string(value)
    }

    /// Creates an array from its elements.
    public init(arrayLiteral elements: JSONValue...) {
        self = .array(elements)
    }

    /// Creates an object with its members in order. If several members have the same name, the last value is used, at
    /// the position of the first.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        var members = JSONValue.Object(minimumCapacity: elements.count)
        for (name, value) in elements { members[name] = value }
        self = .object(members)
    }
}

/// Initializers for variables: `["name": .init(name), "age": .init(age)]`.
extension JSONValue {
    /// Creates a string, or `null` from nil.
    public init(_ value: String?) {
        self = value.map(JSONValue.string) ?? .null
    }

    /// Creates a Boolean, or `null` from nil.
    public init(_ value: Bool?) {
        self = value.map(JSONValue.bool) ?? .null
    }

    /// Creates an integer, or `null` from nil. A value that fits neither `Int64` nor `UInt64` becomes the nearest
    /// `Double`.
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

    /// Creates a floating-point number, or `null` from nil.
    public init(_ value: Double?) {
        self = value.map(JSONValue.number) ?? .null
    }

    /// Creates an object, or `null` from nil.
    public init(_ value: JSONValue.Object?) {
        self = value.map(JSONValue.object) ?? .null
    }

    /// Creates an array, or `null` from nil.
    public init(_ value: [JSONValue]?) {
        self = value.map(JSONValue.array) ?? .null
    }
}
