// SPDX-License-Identifier: MIT

import CurlewJSON
import Foundation
import Testing

/// Errors in the words of Foundation, at the same paths.
@Suite(.timeLimit(.minutes(1)))
struct ErrorTests {
    private static let values = [
        "null", "true", "5", "1.5", "-1", "\"x\"", "\"\"", "[]", "[1]", "[null]", "[\"x\"]", "[true,2]", "[[1]]", "{}",
        "{\"a\":1}", "{\"a\":null}", "{\"a\":\"x\"}", "{\"a\":[1,{}]}", "{\"5\":\"x\"}", "{\"1\":2}", "\"AAEC\"",
        "{\"a\":{\"b\":{}}}", "[{\"a\":1},{\"a\":[]}]", "\"2026-11-22T10:30:00Z\"", "\"https://example.com\"",
    ]

    @Test(arguments: values)
    func allTypesFailAlike(value: String) {
        for pair in [Pair(), Pair(keys: .convertFromSnakeCase)] {
            // At the top, in an array, below a key, and below both.
            for text in [value, "[\(value)]", "{\"a\":\(value)}", "{\"a_b\":[1,{\"c\":\(value)}]}"] {
                check(pair, Bool.self, text)
                check(pair, Int.self, text)
                check(pair, UInt8.self, text)
                check(pair, Double.self, text)
                check(pair, Float.self, text)
                check(pair, String.self, text)
                check(pair, Date.self, text)
                check(pair, Data.self, text)
                check(pair, URL.self, text)
                check(pair, Decimal.self, text)
                check(pair, Suit.self, text)
                check(pair, One.self, text)
                check(pair, UUID.self, text)
            }
        }
    }

    private func check<Value: Decodable & Equatable>(_ pair: Pair, _ type: Value.Type, _ text: String) {
        pair.expectSame(Value.self, text)
        pair.expectSame([Value].self, text)
        pair.expectSame([Value?].self, text)
        pair.expectSame([[Value]].self, text)
        pair.expectSame([String: Value].self, text)
        pair.expectSame([String: [Value]].self, text)
        pair.expectSame(Box<Value>.self, text)
        pair.expectSame([Box<Value>].self, text)
        pair.expectSame(Optional<Value>.self, text)
    }

    private enum Suit: String, Decodable { case x, hearts }

    private struct One: Decodable, Equatable {
        var a: Int
    }

    private struct Box<Value: Decodable & Equatable>: Decodable, Equatable {
        var a: Value
        var aB: Value?
    }

    @Test(arguments: [
        "{}", "{\"list\":[]}", "{\"list\":[1]}", "{\"list\":[1,\"x\"]}", "{\"list\":[1,\"x\",null]}", "{\"list\":null}",
        "{\"list\":[1,\"x\",{\"a\":1}]}", "{\"list\":[1,\"x\",{\"a\":1},[2]]}", "{\"list\":[1,\"x\",{\"a\":1},[2],3]}",
        "{\"list\":5}", "{\"list\":[1,\"x\",5]}", "{\"list\":[1,\"x\",{\"a\":1},5]}", "{\"list\":[1.5]}", "[]", "5",
        "null",
        "{\"list\":[1,\"x\",{\"a\":1},[2],3],\"super\":{\"a\":7}}", "{\"list\":[1,\"x\",{\"a\":1},[2],3],\"super\":[]}",
    ])
    func containersByHandFailAlike(text: String) {
        Pair().expectSame(ByHand.self, text)
        Pair(keys: .convertFromSnakeCase).expectSame(ByHand.self, text)
    }

    /// Goes through every kind of container.
    private struct ByHand: Decodable, Equatable {
        var trace: [String] = []

        private enum Keys: CodingKey { case list, nothing }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            trace.append("\(container.codingPath.count) \(container.contains(.nothing))")
            // What is not there reads as a null.
            let absent = try container.superDecoder(forKey: .nothing)
            trace.append(absent.codingPath.map(\.stringValue).joined(separator: "."))
            trace.append("\(try absent.singleValueContainer().decodeNil())")
            for work in [
                { _ = try absent.singleValueContainer().decode(Int.self) }, { _ = try Bool(from: absent) },
                { _ = try absent.unkeyedContainer() }, { _ = try absent.container(keyedBy: Keys.self) },
                { _ = try absent.singleValueContainer().decode(Date.self) }, { _ = try [String](from: absent) },
            ] as [() throws -> Void] {
                trace.append("\(Outcome<Bool> { try work(); return true })")
            }
            var list = try container.nestedUnkeyedContainer(forKey: .list)
            trace.append("\(list.count ?? -1)")
            // A failure does not move on.
            for _ in 0..<2 { trace.append("\(Outcome { try list.decode(String.self) }) \(list.currentIndex)") }
            trace.append("\(try list.decode(Int.self))")
            trace.append("\(try list.decodeIfPresent(String.self) ?? "-") \(list.currentIndex)")
            let keyed = try list.nestedContainer(keyedBy: AnyKey.self)
            trace.append("\(keyed.allKeys.map(\.stringValue)) \(keyed.codingPath.map(\.stringValue))")
            var inner = try list.nestedUnkeyedContainer()
            trace.append("\(try inner.decode(Int.self)) \(inner.codingPath.map(\.stringValue))")
            trace.append("\(Outcome { try inner.decode(Int.self) }) \(inner.isAtEnd)")
            trace.append("\(Outcome { try inner.decodeNil() })")
            trace.append("\(Outcome { try inner.superDecoder().codingPath.count })")
            trace.append("\(Outcome { try inner.nestedUnkeyedContainer().codingPath.count })")
            trace.append("\(Outcome { try inner.decodeIfPresent(Int.self) }) \(inner.currentIndex)")
            let last = try list.superDecoder()
            trace.append("\(try last.singleValueContainer().decode(Double.self)) \(last.codingPath.count)")
            trace.append("\(try One(from: try container.superDecoder()).a)")
        }
    }

    /// The last key of a failing field is the model's own.
    @Test
    func theKeyOfAFailingFieldIsTheModelsOwn() {
        struct Model: Decodable {
            enum Keys: Int, CodingKey { case number = 7 }
            init(from decoder: any Decoder) throws {
                _ = try decoder.container(keyedBy: Keys.self).decode(Int.self, forKey: .number)
            }
        }
        let error = #expect(throws: DecodingError.self) {
            try FastJSONDecoder().decode(Model.self, from: Data("{\"number\":\"x\"}".utf8))
        }
        guard case .typeMismatch(_, let context)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(context.codingPath.last?.intValue == 7)
    }

    @Test
    func errorsOfModelsPassThrough() {
        struct Refusal: Error {}
        struct Model: Decodable {
            init(from decoder: any Decoder) throws { throw Refusal() }
        }
        #expect(throws: Refusal.self) { try FastJSONDecoder().decode([Model].self, from: Data("[1]".utf8)) }
    }
}
