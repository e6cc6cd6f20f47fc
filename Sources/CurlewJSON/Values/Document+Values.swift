// SPDX-License-Identifier: MIT

import CurlewFoundation

extension Document {
    /// Reads a value of any type at a cell in the container `parent`.
    ///
    /// Types that Foundation treats specially, and types that can be read without their own `init(from:)`, are
    /// recognized by their metatypes. The kind of the cell determines which types are tested.
    func value<Value: Decodable>(_ type: Value.Type, at index: Int, in parent: UInt32) throws -> Value {
        let cell = tape[index]
        let kind = cell.kind
        if kind == .string {
            if type == String.self { return try identical(text(at: index)) }
        } else if kind == .number {
            if type == Int.self { return try identical(scalar(Int.self, at: index, in: parent)) }
            if type == Double.self { return try identical(scalar(Double.self, at: index, in: parent)) }
        } else if kind == .array {
            if type == [String].self { return try identical(scalars(String.self, at: index)) }
            if type == [Int].self { return try identical(scalars(Int.self, at: index)) }
            if type == [Double].self { return try identical(scalars(Double.self, at: index)) }
            if let array = type as? any DecodableArray.Type { return try array.read(self, index) }
        } else if kind == .object {
            if type == [String: String].self { return try identical(dictionary(String.self, at: index)) }
            if type == [String: Int].self { return try identical(dictionary(Int.self, at: index)) }
            if convertsKeys || cell.has(.crowded) || tape.elements(cell) > Document.fewKeys,
                let dictionary = type as? any DecodableDictionary.Type
            {
                return try dictionary.read(self, index)
            }
        }
        if type == JSONValue.self { return try identical(jsonValue(at: index, in: parent)) }
        if type == Date.self { return try identical(date(at: index, in: parent)) }
        if type == URL.self { return try identical(url(at: index, in: parent)) }
        if type == Data.self { return try identical(data(at: index, in: parent)) }
        if type == Decimal.self { return try identical(decimal(at: index, in: parent)) }
        if convertsKeys, kind != .object, type is any DecodableDictionary.Type {
            throw kind == .null
                ? Document.null([String: Any].self, path(to: index, in: parent))
                : noContainer([String: Any].self, "keyed", at: index, in: parent)
        }
        return try Value(from: ValueDecoder(document: self, index: index, parent: parent))
    }

    /// The maximum number of keys for which testing whether a type is a dictionary costs more than it saves.
    private static var fewKeys: Int { 24 }

    @inline(__always)
    func scalar<Value: ScalarValue>(_ type: Value.Type, at index: Int, in parent: UInt32) throws -> Value {
        guard let value = Value.read(self, index) else { throw failure(type, at: index, in: parent) }
        return value
    }
}

/// Returns the value as a `Value`. `Value` must be the same type as `Known`; the compiler cannot prove this. Throws if
/// it is another type.
@inline(__always)
func identical<Known, Value>(_ value: Known) throws -> Value {
    guard Known.self == Value.self else {
        throw DecodingError.typeMismatch(
            Value.self, DecodingError.Context(codingPath: [], debugDescription: "\(Known.self) is another type."))
    }
    return unsafeBitCast(value, to: Value.self)
}

/// A type that a container reads without a decoder.
protocol ScalarValue: Decodable {
    /// Reads the value at the cell. Returns nil if the value is of another kind or does not fit.
    static func read(_ document: Document, _ index: Int) -> Self?
}

extension ScalarValue where Self: FixedWidthInteger {
    @inline(__always)
    static func read(_ document: Document, _ index: Int) -> Self? { document.integer(Self.self, at: index) }
}

extension Int: ScalarValue {}
extension Int8: ScalarValue {}
extension Int16: ScalarValue {}
extension Int32: ScalarValue {}
extension Int64: ScalarValue {}
extension UInt: ScalarValue {}
extension UInt8: ScalarValue {}
extension UInt16: ScalarValue {}
extension UInt32: ScalarValue {}
extension UInt64: ScalarValue {}

extension Bool: ScalarValue {
    @inline(__always)
    static func read(_ document: Document, _ index: Int) -> Bool? { document.bool(at: index) }
}

extension Double: ScalarValue {
    @inline(__always)
    static func read(_ document: Document, _ index: Int) -> Double? { document.double(at: index) }
}

extension Float: ScalarValue {
    @inline(__always)
    static func read(_ document: Document, _ index: Int) -> Float? { document.float(at: index) }
}

extension String: ScalarValue {
    @inline(__always)
    static func read(_ document: Document, _ index: Int) -> String? { document.string(at: index) }
}

/// A 128-bit integer type. A cell holds only 64 bits, so its values are read from all digits of the number.
@available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
protocol WideValue: ScalarValue, FixedWidthInteger {}

@available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
extension WideValue {
    static func read(_ document: Document, _ index: Int) -> Self? {
        document.tape[index].kind == .number ? document.wideInteger(Self.self, at: index) : nil
    }
}

@available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
extension Int128: WideValue {}

@available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, visionOS 2.0, *)
extension UInt128: WideValue {}
