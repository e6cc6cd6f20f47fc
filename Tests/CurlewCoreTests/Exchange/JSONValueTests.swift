// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewJSON
import CurlewTesting
import Testing

@Suite(.timeLimit(.minutes(1)))
struct JSONValueTests {
    func decode(_ text: String) throws -> JSONValue {
        try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
    }

    @Test func literalsMakeDocuments() throws {
        let name = "Ann"
        let age: Int? = nil
        let document: JSONValue = [
            "name": "\(name)", "tags": ["a", 1, 2.5, true, nil], "age": JSONValue(age), "nested": ["deep": [[:], []]],
        ]
        #expect(
            document.description
                == #"{"age":null,"name":"Ann","nested":{"deep":[{},[]]},"tags":["a",1,2.5,true,null]}"#)
        #expect(try decode(document.description) == document)
    }

    @Test(arguments: [
        ("9223372036854775807", JSONValue.integer(.max)), ("-9223372036854775808", .integer(.min)),
        ("18446744073709551615", .unsigned(.max)), ("9007199254740993", .integer(9_007_199_254_740_993)),
        ("18446744073709551616", .number(18_446_744_073_709_551_616)), ("0.5", .number(0.5)), ("-0.25", .number(-0.25)),
        ("true", .bool(true)), ("null", .null), (#""1""#, .string("1")), ("1", .integer(1)),
    ])
    func numbersAreExactAsFarAs64Bits(text: String, value: JSONValue) throws {
        #expect(try decode("[\(text)]") == [value])
        if case .number = value { return }
        #expect(try decode("[\(text)]").description == "[\(text)]")
    }

    @Test func readingWhatIsNotThereIsNull() throws {
        let document = try decode(#"{"items":[{"id":1,"name":"x"}],"count":2.0}"#)
        #expect(document["items"][0]["name"].string == "x")
        #expect(document["items"][0]["id"].int == 1)
        #expect(document["items"][0]["id"].double == 1)
        #expect(document["count"].int == 2)
        #expect(document["items"][7]["name"]["more"].isNull)
        #expect(document["items"]["name"].isNull)
        #expect(document["items"][-1].isNull)
        #expect(document["items"].array?.count == 1)
        #expect(document.object?.keys.sorted() == ["count", "items"])
        #expect(document.string == nil && document.bool == nil && document.int == nil && document.double == nil)
    }

    @Test func membersAndElementsCanBeSet() {
        var document: JSONValue = ["a": [1, 2]]
        document["a"][1] = "two"
        document["b"]["c"] = true
        document["a"][9] = 1
        #expect(document == ["a": [1, "two"], "b": ["c": true]])
    }

    @Test func valuesOfVariablesAreConverted() {
        #expect(JSONValue("x" as String?) == "x")
        #expect(JSONValue(true as Bool?) == true)
        #expect(JSONValue(3 as UInt8) == 3)
        #expect(JSONValue(UInt64.max) == .unsigned(.max))
        #expect(JSONValue(2.5 as Double?) == 2.5)
        #expect(JSONValue(nil as Double?) == nil)
        #expect(JSONValue([1, "x"]) == [1, "x"])
    }

    @Test func nestingWithoutEndIsAnErrorNotACrash() {
        let deep = String(repeating: "[", count: 100_000)
        #expect(throws: (any Error).self) { try decode(deep) }
    }

    @Test func itServesAsBodyAndAsAnswer() async throws {
        let transport = RecordingTransport { request, _ in
            HTTPResponse(body: ResponseBody(request.body.data ?? Data()))
        }
        let echo: JSONValue = try await APIClient.testing(transport)
            .send(.post("/echo", body: .json(["name": "Ann", "age": 31, "tags": ["new"]])))
        #expect(echo["tags"][0].string == "new")
        #expect(echo["age"].int == 31)
    }
}

extension JSONValueTests {
    @Test("the body of a request has the members in the order of the literal", arguments: [false, true])
    func orderOnTheWire(snake: Bool) async throws {
        let mock = MockTransport.answering { _ in .status(.noContent) }
        var configuration = APIClient.Configuration()
        if snake { configuration.codecs = .snakeCase }
        let client = APIClient.mock(mock, configuration: configuration)
        try await client.send(
            Request<Void>.post("/", body: .json(["zipCode": 1, "firstName": ["y": 1, "x": 2], "age": 3])))
        let expected =
            snake
            ? #"{"zip_code":1,"first_name":{"y":1,"x":2},"age":3}"#
            : #"{"zipCode":1,"firstName":{"y":1,"x":2},"age":3}"#
        #expect(mock.requests.first?.text == expected)
    }

    @Test("an encoder that sorts or formats keeps doing so")
    func ownFormatting() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        let data = try Codecs(encoder: encoder).encode(["b": 1, "a": 2] as JSONValue)
        #expect(String(decoding: data, as: UTF8.self) == #"{"a":2,"b":1}"#)
        #expect(throws: EncodingError.self) { try Codecs.json.encode(JSONValue.number(.infinity)) }
    }
}
