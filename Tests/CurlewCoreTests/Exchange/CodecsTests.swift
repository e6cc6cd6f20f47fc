// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore

@Suite(.timeLimit(.minutes(1)))
struct CodecsTests {
    struct Event: Codable, Equatable {
        let createdAt: Date
    }

    static let moment = Event(createdAt: Date(timeIntervalSince1970: 1_000_000_000))

    @Test(
        "Each preset reads and writes its own form of keys and dates",
        arguments: [
            (Codecs.json, #"{"createdAt":21692800}"#),
            (Codecs.snakeCase, #"{"created_at":"2001-09-09T01:46:40Z"}"#),
            (Codecs.iso8601, #"{"createdAt":"2001-09-09T01:46:40Z"}"#),
            (Codecs.secondsSince1970, #"{"createdAt":1000000000}"#),
        ])
    func presets(codecs: Codecs, json: String) throws {
        #expect(try codecs.decode(Event.self, from: Data(json.utf8), mediaType: .json) == Self.moment)
        #expect(String(decoding: try codecs.encode(Self.moment), as: UTF8.self) == json)
    }

    @Test(
        "ISO 8601 dates may have fractions of a second and an offset",
        arguments: [
            ("2001-09-09T01:46:40.500Z", 0.5), ("2001-09-09T03:46:40+02:00", 0), ("2001-09-09T01:46:40.25+00:00", 0.25),
        ])
    func fractions(text: String, more: Double) throws {
        let json = Data(#"{"createdAt":"\#(text)"}"#.utf8)
        let event = try Codecs.iso8601.decode(Event.self, from: json, mediaType: nil)
        #expect(abs(event.createdAt.timeIntervalSince1970 - 1_000_000_000 - more) < 0.001)
    }

    @Test("An invalid date is a decoding error with its path", arguments: ["yesterday", "2001-09-09", ""])
    func noDate(text: String) {
        let json = Data(#"{"createdAt":"\#(text)"}"#.utf8)
        let error = #expect(throws: DecodingError.self) {
            try Codecs.iso8601.decode(Event.self, from: json, mediaType: nil)
        }
        #expect(error?.explanation.contains("$.createdAt") == true)
    }

    @Test("A configured coder is used as it is")
    func configured() throws {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .millisecondsSince1970
        let json = Data(#"{"createdAt":1000000000000}"#.utf8)
        #expect(try Codecs(decoder: decoder).decode(Event.self, from: json, mediaType: nil) == Self.moment)
    }

    @Test("A response is read by the codec that claims its type, and by the primary one otherwise")
    func byMediaType() throws {
        let codecs = Codecs().adding(Fixed(name: "a/first", value: 1)).adding(Fixed(name: "a/second", value: 2))
        func decode(_ type: String?) throws -> Int {
            try codecs.decode(Int.self, from: Data("7".utf8), mediaType: type.flatMap { MediaType($0) })
        }
        #expect(try decode("a/first; charset=utf-8") == 1)
        #expect(try decode("A/Second") == 2)
        #expect(try decode("application/json") == 7)
        #expect(try decode("text/plain") == 7)
        #expect(try decode(nil) == 7)
        #expect(codecs.accept == "application/json, a/first;q=0.9, a/second;q=0.9")
    }

    @Test("A codec for the same type replaces the one added before it")
    func replacing() throws {
        let codecs = Codecs().adding(Fixed(name: "a/x", value: 1)).adding(Fixed(name: "a/x", value: 2))
        #expect(try codecs.decode(Int.self, from: Data(), mediaType: MediaType("a/x")) == 2)
    }

    @Test("Another primary codec writes bodies and is what the client accepts")
    func primary() throws {
        let codecs = Codecs(primary: Fixed(name: "application/cbor", value: 3))
        #expect(codecs.accept == "application/cbor")
        #expect(try codecs.encode(5) == Data([3]))
    }
}

/// A codec whose every value is one number.
private struct Fixed: ContentCodec {
    let name: String
    let value: Int

    var mediaType: MediaType { MediaType(name) ?? .octetStream }

    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        try JSONDecoder().decode(type, from: Data("\(value)".utf8))
    }

    func encode<Value: Encodable>(_ value: Value) throws -> Data { Data([UInt8(self.value)]) }
}
