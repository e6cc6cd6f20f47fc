// SPDX-License-Identifier: MIT

import CurlewJSON
import Foundation
import Testing

/// `JSONValue` from the tape, beside `JSONValue` from a decoder that is asked.
@Suite(.timeLimit(.minutes(1)))
struct JSONValueTests {
    @Test(arguments: 1...6)
    func randomDocumentsGiveTheSameValues(seed: Int) {
        var source = RandomJSON(seed: 4_000 + UInt64(seed))
        for number in 0..<50 {
            let text = source.document()
            for pair in [Pair(), Pair(keys: .convertFromSnakeCase)] {
                pair.expectSame(JSONValue.self, text, "(seed \(seed), number \(number))")
                pair.expectSame([JSONValue].self, "[\(text)]", "(seed \(seed), number \(number))")
                pair.expectSame([String: JSONValue].self, "{\"a_b\":\(text)}", "(seed \(seed), number \(number))")
                pair.expectSame(Holder.self, "{\"any\":\(text),\"an_id\":1}", "(seed \(seed), number \(number))")
                pair.expectSame(ByInitializer.self, text, "(seed \(seed), number \(number))")
            }
        }
    }

    private struct Holder: Decodable, Equatable {
        var any: JSONValue?
        var anID: Int?
    }

    /// A model that hands its decoder on.
    private struct ByInitializer: Decodable, Equatable {
        var value: JSONValue
        init(from decoder: any Decoder) throws { value = try JSONValue(from: decoder) }
    }

    @Test(arguments: [
        ("9223372036854775807", JSONValue.integer(.max)), ("-9223372036854775808", .integer(.min)),
        ("9223372036854775808", .unsigned(1 << 63)), ("18446744073709551615", .unsigned(.max)),
        ("18446744073709551616", .number(0x1p64)), ("1.0", .integer(1)), ("1e2", .integer(100)), ("0.5", .number(0.5)),
        ("-0", .integer(0)), ("1e-400", .number(0)), ("0.00E2", .integer(0)), ("16777216", .integer(1 << 24)),
        ("16777215", .integer(16_777_215)), ("-16777215", .integer(-16_777_215)), ("1.5e300", .number(1.5e300)),
    ])
    func numbersAreExactAsFarAs64Bits(text: String, value: JSONValue) throws {
        #expect(try FastJSONDecoder().decode(JSONValue.self, from: Data(text.utf8)) == value)
        #expect(try FastJSONDecoder().decode([JSONValue].self, from: Data("[\(text)]".utf8)) == [value])
    }

    @Test
    func whatIsTooGreatIsAnErrorAtItsPath() {
        guard
            case .failure(let failure) = Outcome({
                try FastJSONDecoder().decode(JSONValue.self, from: Data("{\"a\":[1,1e400]}".utf8))
            })
        else {
            Issue.record("a value")
            return
        }
        #expect(
            failure.path == ["a", "Index 1"] && failure.text == "Parsed JSON number <1e400> does not fit in Double.")
    }

    /// The value of a key that is not the first of its kind does not matter.
    @Test
    func theFirstOfEqualKeysCounts() throws {
        let crowd = (0..<40).map { "\"k\($0)\":0" }.joined(separator: ",")
        for text in ["{\"a\":1,\"a\":1e400}", "{\"a\":1,\(crowd),\"a\":1e400}", "{\"\\u0061\":1,\"a\":[2]}"] {
            #expect(try FastJSONDecoder().decode(JSONValue.self, from: Data(text.utf8))["a"] == 1)
        }
    }

    /// As the decoder of another format would be asked.
    @Test
    func otherDecodersAreAskedForEachKind() throws {
        let text = "{\"a\":[null,true,-1,18446744073709551615,0.5,\"x\",{}]}"
        let expected: JSONValue = ["a": [nil, true, -1, .unsigned(.max), 0.5, "x", [:]]]
        #expect(try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)) == expected)
        #expect(try FastJSONDecoder().decode(JSONValue.self, from: Data(text.utf8)) == expected)
        let list = try PropertyListEncoder().encode(["a": [1, 2]])
        #expect(try PropertyListDecoder().decode(JSONValue.self, from: list) == ["a": [1, 2]])
    }
}
