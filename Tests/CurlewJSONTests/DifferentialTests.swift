// SPDX-License-Identifier: MIT

import CurlewJSON
import Foundation
import Testing

/// The same documents through Foundation and through us.
@Suite(.timeLimit(.minutes(1)))
struct DifferentialTests {
    @Test(arguments: 1...3)
    func randomDocumentsGiveTheSameValues(seed: Int) {
        var source = RandomJSON(seed: UInt64(seed))
        let pair = Pair()
        for number in 0..<250 {
            let text = source.document()
            pair.expectSame(Tree.self, text, "(seed \(seed), number \(number))")
        }
    }

    @Test(arguments: 1...2)
    func randomDocumentsInSnakeCaseGiveTheSameValues(seed: Int) {
        var source = RandomJSON(seed: 100 + UInt64(seed))
        let pair = Pair(keys: .convertFromSnakeCase)
        for number in 0..<150 {
            let text = source.document()
            pair.expectSame(Tree.self, text, "(seed \(seed), number \(number))")
            pair.expectSame(Record.self, text, "(seed \(seed), number \(number))")
        }
    }

    /// One byte of a valid document is changed, dropped or added.
    @Test(arguments: 1...3)
    func mutationsAreAcceptedAndRefusedAlike(seed: Int) {
        var random = Seeded(1_000 + UInt64(seed))
        let pair = Pair()
        let bytes = Array(mutated.utf8)
        for _ in 0..<500 {
            var copy = bytes
            let place = Int.random(in: 0..<copy.count, using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: copy[place] = UInt8.random(in: 0...255, using: &random)
            case 1: copy.remove(at: place)
            default: copy.insert(random.pick(Array("{}[],:\"\\0e.- ".utf8)), at: place)
            }
            let data = Data(copy)
            let (expected, actual) = pair.outcomes(Tree.self, data)
            if isLaxInFoundation(copy, expected, actual) { continue }
            switch (expected, actual) {
            case (.value, .value): #expect(expected == actual, "seed \(seed): \(String(decoding: data, as: UTF8.self))")
            case (.failure, .failure): break
            default:
                Issue.record("seed \(seed): \(String(decoding: data, as: UTF8.self))\n\(expected)\n\(actual)")
            }
        }
    }

    /// Models of all shapes, on documents with their keys and values of every kind.
    @Test(arguments: 1...3)
    func randomModelsGiveTheSameValuesAndErrors(seed: Int) {
        var source = RandomJSON(seed: 2_000 + UInt64(seed))
        let pair = Pair()
        for _ in 0..<150 {
            let keys = ["id", "name", "tags", "child", "map", "c_d", "price", "isOn", "link", "raw", "when"]
            let members = keys.compactMap { key -> String? in
                source.random.chance(5) ? nil : "\"\(key)\":\(likely(key, &source))"
            }
            let text = "{\(members.shuffled(using: &source.random).joined(separator: ","))}"
            pair.expectSame(Record.self, text, "(seed \(seed))")
            pair.expectSame([Record].self, "[\(text),\(text)]", "(seed \(seed))")
            pair.expectSame([String: Record?].self, "{\"k\":\(text),\"l\":null}", "(seed \(seed))")
            pair.expectSame(Loose.self, text, "(seed \(seed))")
        }
    }

    private func likely(_ key: String, _ source: inout RandomJSON) -> String {
        if source.random.chance(12) { return source.value(depth: 4) }
        switch key {
        case "id": return source.random.pick(["1", "255", "256", "-1", "1.0", "12e0"])
        case "name": return "\"\(source.string())\""
        case "tags": return source.random.pick(["[]", "[\"a\",\"\\n\"]", "[null]", "[1]"])
        case "child": return source.random.pick(["null", "{\"x\":[1,2]}", "{\"x\":[true]}", "{}"])
        case "map": return source.random.pick(["{}", "{\"a\":1,\"b_c\":2}", "{\"a\":null}", "{\"a\":1,\"a\":\"x\"}"])
        case "price": return source.random.pick(["1.5", "3", "12345678901234567890.25", "\"1\""])
        case "isOn": return source.random.pick(["true", "false", "null", "1"])
        case "link": return source.random.pick(["\"https://example.com/a?b\"", "\"\"", "null", "5"])
        case "raw": return source.random.pick(["\"AAEC\"", "\"?\"", "\"\"", "null", "[1]"])
        case "when": return source.random.pick(["0", "1.5", "null", "\"2026-11-22T10:30:00Z\""])
        default: return source.number()
        }
    }

    private let mutated = """
        {"users":[{"id":1,"name":"Ann \\u00e9 \\ud83d\\ude00","score":-12.5e1,"tags":["a","é","\\n"],"ok":true},
        {"id":1844674407370955,"name":"漢字","score":0.1,"tags":[],"ok":false,"nested":{"a":{"b":[null,[1]]}}}]}
        """

    /// What Foundation accepts although it is no JSON, and one thing that it refuses although it is.
    private func isLaxInFoundation(_ bytes: [UInt8], _ expected: Outcome<Tree>, _ actual: Outcome<Tree>) -> Bool {
        let text = String(decoding: bytes.filter { !" \n".utf8.contains($0) }, as: UTF8.self)
        if case .value = expected { return text.contains(",]") || text.contains(",}") }
        if case .value = actual { return text.contains("0e") || text.contains("0E") }
        return false
    }
}

/// A model with a field of each kind.
struct Record: Decodable, Equatable {
    var id: UInt8
    var name: String?
    var tags: [String]?
    var child: Child?
    var map: [String: Int]?
    var cD: Double?
    var price: Decimal?
    var isOn: Bool?
    var link: URL?
    var raw: Data?
    var when: Date?

    struct Child: Decodable, Equatable {
        var x: [Int]
    }
}

/// A model that looks before it reads, manually.
struct Loose: Decodable, Equatable {
    var seen: [String]
    var hasChild: Bool
    var first: String?
    var path: [String]

    enum Keys: String, CodingKey { case id, name, tags, child, map }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        seen = container.allKeys.map(\.rawValue).sorted()
        hasChild = try container.contains(.child) && !container.decodeNil(forKey: .child)
        path = []
        guard container.contains(.tags) else { return }
        var tags = try container.nestedUnkeyedContainer(forKey: .tags)
        path = tags.codingPath.map(\.stringValue)
        while !tags.isAtEnd {
            if try tags.decodeNil() { continue }
            first = try first ?? tags.decodeIfPresent(String.self)
            if tags.isAtEnd { break }
            path += try tags.superDecoder().codingPath.map(\.stringValue)
        }
    }
}
