// SPDX-License-Identifier: MIT

import CurlewJSON
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1)))
struct JSONOrderTests {
    private let names = (0..<40).map { "member\($0 * 7 % 40)" }

    private func written(_ value: JSONValue) -> String? {
        value.encoded().map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("Literals and documents keep the order of members, however many there are")
    func kept() throws {
        let document: JSONValue = ["zebra": 1, "apple": [["y": 1, "x": 2]], "mango": nil]
        #expect(written(document) == #"{"zebra":1,"apple":[{"y":1,"x":2}],"mango":null}"#)
        #expect(document.description == #"{"apple":[{"x":2,"y":1}],"mango":null,"zebra":1}"#)
        let text = "{" + names.map { "\"\($0)\":\"\($0)\"" }.joined(separator: ",") + "}"
        let read = try FastJSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
        #expect(read.object?.keys == names && read.object?.values.first?.string == names[0])
        #expect(written(read) == text)
    }

    @Test("Changes keep the order; a member removed and set again comes last")
    func changed() {
        var object: JSONValue.Object = ["a": 1, "b": 2, "c": 3]
        object["a"] = 9
        object["d"] = 4
        object["b"] = nil
        object["b"] = 5
        #expect(object.keys == ["a", "c", "d", "b"] && object["a"] == 9 && object.count == 4)
        var document: JSONValue = ["x": ["b": 1, "a": 2]]
        document["x"]["b"] = 3
        document["x"]["c"] = 4
        #expect(written(document) == #"{"x":{"b":3,"a":2,"c":4}}"#)
        #expect(JSONValue.Object(["b": 1, "a": 2]).keys == ["a", "b"])
    }

    @Test("The order does not count for equality and hashes")
    func equality() {
        let (one, other): (JSONValue, JSONValue) = (["a": 1, "b": [2]], ["b": [2], "a": 1])
        #expect(one == other && one.hashValue == other.hashValue)
        #expect(one != ["a": 1] && one != ["a": 1, "b": [3]] && one != ["a": 1, "c": [2]])
    }

    @Test("A written document is read back by Foundation as the same", arguments: 1...6)
    func written(seed: Int) throws {
        var source = RandomJSON(seed: 9_000 + UInt64(seed))
        for number in 0..<60 {
            let text = "[\(source.document())]"
            guard let value = try? JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)) else { continue }
            let written = try #require(value.encoded())
            #expect(
                try JSONDecoder().decode(JSONValue.self, from: written) == value, "seed \(seed), number \(number)")
        }
        let signs = "\"\\/\u{8}\u{c}\n\r\t\u{0}\u{1f}\u{7f}é😀\u{2028}"
        let data = try #require(JSONValue.string(signs).encoded())
        #expect(try JSONDecoder().decode(String.self, from: data) == signs)
        #expect(JSONValue.number(.infinity).encoded() == nil && JSONValue.array([.number(.nan)]).encoded() == nil)
        #expect(JSONValue.number(1).description == "1" && JSONValue.number(-0.5).description == "-0.5")
    }

    @Test("Keys are converted to snake case as Foundation's encoder does", arguments: 1...4)
    func snakeCase(seed: Int) throws {
        var random = Xorshift(state: 77 + UInt64(seed))
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        var keys = ["", "a", "A", "firstName", "myURLProperty", "URL", "aB", "_a", "__A_b", "iPhone6S", "x1Y2z", "ABc"]
        let signs = Array("abzABZ_19")
        for _ in 0..<500 {
            keys.append(String((0..<Int(random.next() % 12)).map { _ in signs[Int(random.next() % 9)] }))
        }
        for key in keys {
            let expected = String(decoding: try encoder.encode([Key(key)]), as: UTF8.self)
            let written = JSONValue.array([.object([key: 1])]).encoded(convertsToSnakeCase: true)
            #expect(written.map { String(decoding: $0, as: UTF8.self) } == expected, "\(key), seed \(seed)")
        }
    }

    /// An object of one member, which Foundation's encoder converts; a dictionary's keys it leaves alone.
    private struct Key: Encodable, CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(_ name: String) { stringValue = name }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(1, forKey: self)
        }
    }

    private struct Xorshift {
        var state: UInt64
        mutating func next() -> UInt64 {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return state
        }
    }
}
