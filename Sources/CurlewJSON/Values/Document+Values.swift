// SPDX-License-Identifier: MIT

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Document {
    /// The value of any type at an entry.
    ///
    /// Types that Foundation treats specially, and those that can be read without their own `init(from:)`, are told
    /// apart by their metatypes; the kind of the entry says which of them are worth a look.
    func value<Value: Decodable>(_ type: Value.Type, at index: Int) throws -> Value {
        let kind = tape[index].kind
        if kind == .string {
            if type == String.self { return identical(text(at: index)) }
        } else if kind == .number {
            if type == Int.self { return identical(try scalar(Int.self, at: index)) }
            if type == Double.self { return identical(try scalar(Double.self, at: index)) }
        } else if kind == .array {
            if type == [String].self { return identical(try scalars(String.self, at: index)) }
            if type == [Int].self { return identical(try scalars(Int.self, at: index)) }
            if type == [Double].self { return identical(try scalars(Double.self, at: index)) }
            if let array = type as? any DecodableArray.Type { return try array.read(self, index) }
        } else if kind == .object {
            if type == [String: String].self { return identical(try dictionary(String.self, at: index)) }
            if type == [String: Int].self { return identical(try dictionary(Int.self, at: index)) }
            if convertsKeys || tape[index].count > Document.fewKeys,
                let dictionary = type as? any DecodableDictionary.Type
            {
                return try dictionary.read(self, index)
            }
        }
        if type == Date.self { return identical(try date(at: index)) }
        if type == URL.self { return identical(try url(at: index)) }
        if type == Data.self { return identical(try data(at: index)) }
        if type == Decimal.self { return identical(try decimal(at: index)) }
        if convertsKeys, kind != .object, type is any DecodableDictionary.Type {
            throw kind == .null
                ? Document.null([String: Any].self, path(to: index))
                : noContainer([String: Any].self, "keyed", at: index)
        }
        return try Value(from: ValueDecoder(document: self, index: index))
    }

    /// Up to this many keys, asking each model whether it is a dictionary costs more than it gains.
    private static var fewKeys: Int { 24 }

    @inline(__always)
    func scalar<Value: ScalarValue>(_ type: Value.Type, at index: Int) throws -> Value {
        guard let value = Value.read(self, index) else { throw failure(type, at: index) }
        return value
    }
}

/// Gives back the value as the same type under another name; only called when both are the same, which the compiler
/// cannot see.
@inline(__always)
func identical<Known, Value>(_ value: Known) -> Value {
    assert(Known.self == Value.self)
    return unsafeBitCast(value, to: Value.self)
}
