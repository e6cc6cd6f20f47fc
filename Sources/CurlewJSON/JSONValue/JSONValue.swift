// SPDX-License-Identifier: MIT

import CurlewFoundation

/// Any JSON value, for request and response bodies that have no model.
///
///     try await client.send(.post("/users", body: .json(["name": "Ann", "tags": ["new"], "age": 31])))
///     let document: JSONValue = try await client.send(.get("/users/1"))
///     let city = document["address"]["city"].string
///
/// Reading never fails: a subscript returns `.null` if the member or element does not exist, or if the value is not an
/// object or array.
///
/// Integers that fit `Int64` or `UInt64` are exact. Any other number is rounded to the nearest `Double`; decoding fails
/// only if the number is too large for a `Double`. Members keep the order in which they are written or decoded, also in
/// a request body. Comparing values ignores the order, and distinguishes the cases of numbers: the literal `1.0` does
/// not equal `1`.
public enum JSONValue: Sendable, Hashable {
    /// `null`, or a missing value.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// An integer that fits `Int64`.
    case integer(Int64)
    /// An integer that fits only `UInt64`.
    case unsigned(UInt64)
    /// A number rounded to the nearest `Double`. Decoders use the case only for numbers that fit no integer case.
    case number(Double)
    /// A string.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object.
    case object(JSONValue.Object)

    /// The member `key`; `.null` if there is none. Setting a member of a value that is not an object replaces the value
    /// with an object. Setting `.null` stores a null.
    public subscript(key: String) -> JSONValue {
        get { object?[key] ?? .null }
        set {
            var members = object ?? JSONValue.Object()
            members[key] = newValue
            self = .object(members)
        }
    }

    /// The element at `index`; `.null` if there is none. Only existing elements can be set; setting any other element
    /// has no effect.
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

/// Properties that return the value as a Swift type, or nil if it is of another kind.
extension JSONValue {
    /// Whether the value is `null` or missing.
    public var isNull: Bool { self == .null }

    /// The Boolean; nil if the value is not a Boolean.
    public var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The number as an `Int`; nil if it does not fit, has a fraction, or is not a number.
    public var int: Int? {
        switch self {
        case .integer(let value): Int(exactly: value)
        case .unsigned(let value): Int(exactly: value)
        case .number(let value): Int(exactly: value)
        default: nil
        }
    }

    /// The number as a `Double`, rounded if necessary; nil if the value is not a number.
    public var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .unsigned(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }

    /// The string; nil if the value is not a string.
    public var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The elements of the array; nil if the value is not an array.
    public var array: [JSONValue]? {
        if case .array(let value) = self { value } else { nil }
    }

    /// The members of the object; nil if the value is not an object.
    public var object: JSONValue.Object? {
        if case .object(let value) = self { value } else { nil }
    }
}

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

    /// Creates a floating-point number, or `null` from nil. Encoding an infinite value or NaN throws.
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

extension JSONValue {
    /// The members of a JSON object, in the order in which they were written or decoded.
    ///
    ///     let user: JSONValue.Object = ["name": "Ann", "age": 31]
    ///     for (name, value) in user { print(name, value) }         // name, then age
    ///
    /// The order has no meaning in JSON, so equality ignores it (RFC 8259 §4). Setting an existing member keeps its
    /// position. Finding a member takes constant time.
    public struct Object: Sendable, Hashable, Sequence, ExpressibleByDictionaryLiteral {
        private var members: [String: Member] = [:]
        private var nextIndex = 0

        private struct Member: Sendable {
            let index: Int
            var value: JSONValue
        }

        /// Creates an object without members.
        public init() {}

        /// Creates an object with these members, ordered by name.
        public init(_ members: [String: JSONValue]) {
            self.init(minimumCapacity: members.count)
            for (name, value) in members.ordered(by: { $0.key < $1.key }) { self[name] = value }
        }

        /// Creates an object with these members in order. If several members have the same name, the last value is
        /// used, at the position of the first.
        public init(dictionaryLiteral elements: (String, JSONValue)...) {
            self.init(minimumCapacity: elements.count)
            for (name, value) in elements { self[name] = value }
        }

        init(minimumCapacity capacity: Int) {
            members.reserveCapacity(capacity)
        }

        /// The value of the member `name`; nil if there is none. Setting a value appends a new member or replaces the
        /// value of an existing one. Setting nil removes the member.
        public subscript(name: String) -> JSONValue? {
            get { members[name]?.value }
            set {
                guard let newValue else {
                    members[name] = nil
                    return
                }
                if (members[name]?.value = newValue) != nil { return }
                members[name] = Member(index: nextIndex, value: newValue)
                nextIndex += 1
            }
        }

        /// The number of members.
        public var count: Int { members.count }

        /// Whether the object has no members.
        public var isEmpty: Bool { members.isEmpty }

        /// The names of the members, in order.
        public var keys: [String] { map(\.key) }

        /// The values of the members, in order.
        public var values: [JSONValue] { map(\.value) }

        /// The members as an unordered dictionary.
        public var dictionary: [String: JSONValue] { members.mapValues(\.value) }

        /// Returns an iterator over the members in order.
        public func makeIterator() -> AnyIterator<(key: String, value: JSONValue)> {
            let ordered = members.sorted { $0.value.index < $1.value.index }
            return AnyIterator(ordered.lazy.map { (key: $0.key, value: $0.value.value) }.makeIterator())
        }

        /// Returns whether both objects have the same members, in any order.
        public static func == (left: JSONValue.Object, right: JSONValue.Object) -> Bool {
            left.count == right.count && left.members.allSatisfy { right.members[$0.key]?.value == $0.value.value }
        }

        /// Hashes the members, regardless of their order.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(dictionary)
        }
    }
}

extension JSONValue.Object: CustomStringConvertible {
    /// The object as JSON on one line, with members sorted by name. Secrets are not redacted.
    public var description: String { JSONValue.object(self).description }
}
