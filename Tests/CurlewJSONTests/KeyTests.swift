// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import CurlewJSON

@Suite(.timeLimit(.minutes(1)))
struct KeyTests {
    /// Reads the given keys, and reports which exist.
    private struct Lookup: Decodable, Equatable {
        var found: [String: Int]
        var all: [String]

        static let names = [
            "a", "b", "aB", "a_b", "oneTwoThree", "_oneTwo_", "K", "\u{212A}", "é", "e\u{301}", "", "key20", "item2Nd",
            "ID",
            "userName", "__", "a-b", "x1Y2", "12345678", "123456789", "1234567890abcdef", "1234567890abcdefg", "ÄÖ",
            "äÖ",
        ]

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: AnyKey.self)
            found = [:]
            for name in Lookup.names {
                guard container.contains(AnyKey(name)) else { continue }
                found[name] = try container.decodeIfPresent(Int.self, forKey: AnyKey(name)) ?? -1
            }
            all = container.allKeys.map(\.stringValue).sorted()
        }
    }

    private struct AllKeys: Decodable {
        let names: [String]

        init(from decoder: any Decoder) throws {
            names = try decoder.container(keyedBy: AnyKey.self).allKeys.map(\.stringValue).sorted()
        }
    }

    @Test("Keys of any letters are converted as Foundation converts them")
    func letters() throws {
        let signs = [
            "a", "B", "é", "É", "ä", "Þ", "þ", "À", "ß", "ÿ", "Ÿ", "×", "÷", "µ", "1", "_", "_", "_", "-", "\u{301}",
            "漢",
            "Я", "ǆ", "İ", "\u{AD}", "\u{200D}",
        ]
        var seed: UInt64 = 19
        func number(_ bound: Int) -> Int {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(seed >> 33) % bound
        }
        let ours = FastJSONDecoder(keys: .convertFromSnakeCase)
        let theirs = JSONDecoder()
        theirs.keyDecodingStrategy = .convertFromSnakeCase
        for _ in 0..<4000 {
            let key = (0..<(1 + number(8))).map { _ in signs[number(signs.count)] }.joined()
            let document = Data("{\"\(key)\":1}".utf8)
            let expected = try theirs.decode(AllKeys.self, from: document).names
            let found = try ours.decode(AllKeys.self, from: document).names
            #expect(found.map { Array($0.utf8) } == expected.map { Array($0.utf8) }, "\(key)")
        }
    }

    private static let objects: [String] = {
        let many = (0..<40).map { "\"key\($0)\":\($0)" }
        let bodies = [
            "", "\"a\":1", "\"a\":1,\"a\":2", "\"b\":0,\"a\":1,\"b\":5,\"a\":2", "\"a_b\":1,\"aB\":2",
            "\"aB\":1,\"a_b\":2",
            "\"one_two_three\":1,\"_one_two_\":2", "\"one__two___three\":1", "\"_ONE_TWO_\":1", "\"K\":1",
            "\"\u{212A}\":1",
            "\"é\":1", "\"e\u{301}\":1", "\"\\u00e9\":1,\"\\u00c9\":2", "\"\\u0061\":1,\"a\":2",
            "\"a\":1,\"\\u0061\":2",
            "\"\":1", "\"_\":1,\"__\":2,\"___\":3", "\"item_2nd\":1", "\"x1_y2\":3", "\"ID\":1,\"i_d\":2",
            "\"user_name\":9",
            "\"USER_NAME\":9", "\"User_Name\":9", "\"a-b\":1,\"a_-b\":2", "\"a-b_c-d\":1", "\"ä_ö\":1,\"Ä_ö\":2",
            "\"a\":null",
            "\"12345678\":8,\"123456789\":9,\"1234567890abcdef\":16,\"1234567890abcdefg\":17",
            "\"a_b\":{\"x\":1},\"b\":2",
        ]
        return bodies.flatMap { body -> [String] in
            let crowded = many + (body.isEmpty ? [] : [body]) + ["\"key20\":0"]
            return ["{\(body)}", "{\(crowded.joined(separator: ","))}"]
        }
    }()

    @Test(arguments: objects)
    func keysAreFoundAlike(text: String) {
        for keys in [FastJSONDecoder.KeyStrategy.useDefaultKeys, .convertFromSnakeCase] {
            let pair = Pair(keys: keys)
            if !text.contains("{\"x\"") { pair.expectSame(Lookup.self, text, "\(keys)") }
            pair.expectSame([String: Tree].self, text, "\(keys)")
            pair.expectSame([[String: Tree]].self, "[\(text)]", "\(keys)")
            pair.expectSame([String: Int?].self, text, "\(keys)")
        }
    }

    @Test(arguments: [
        "a", "aB", "a_b", "_a", "a_", "__a_b__", "a__b", "A_B", "aB_cD", "1_2", "a1b_c2d", "a_1b", "_", "é_é",
        "a b_c d",
        "foo-bar_baz-qux", "ß_ß", "a_ß", "a.b_c.d", "a'b_c'd", "\u{301}_a", "a_\u{301}b", "ABC_DEF", "x_y_z", "_A",
        "i_İ",
    ])
    func snakeCaseIsConvertedAsFoundationDoes(key: String) throws {
        struct Model: Decodable, Equatable {
            var keys: [String]
            init(from decoder: any Decoder) throws {
                keys = try decoder.container(keyedBy: AnyKey.self).allKeys.map(\.stringValue)
            }
        }
        let text = "{\"\(key)\":1}"
        Pair(keys: .convertFromSnakeCase).expectSame(Model.self, text)
        // What is converted by bytes is what is converted by text.
        let name = SnakeCase.camelCase(key)
        let found = try FastJSONDecoder(keys: .convertFromSnakeCase).decode([String: Int].self, from: Data(text.utf8))
        #expect(found == [key: 1])
        struct Finder: Decodable {
            let isThere: Bool
            init(from decoder: any Decoder) throws {
                let name = decoder.userInfo.values.first as? String ?? ""
                isThere = try decoder.container(keyedBy: AnyKey.self).contains(AnyKey(name))
            }
        }
        var decoder = FastJSONDecoder(keys: .convertFromSnakeCase)
        decoder.userInfo[try #require(CodingUserInfoKey(rawValue: "name"))] = name
        #expect(try decoder.decode(Finder.self, from: Data(text.utf8)).isThere, "\(key) as \(name)")
    }

    @Test
    func dictionariesKeepTheirKeys() throws {
        let data = Data("{\"some_key\":{\"inner_key\":1}}".utf8)
        let decoder = FastJSONDecoder(keys: .convertFromSnakeCase)
        #expect(try decoder.decode([String: [String: Int]].self, from: data) == ["some_key": ["inner_key": 1]])
        let pair = Pair(keys: .convertFromSnakeCase)
        pair.expectSame([String: [String: Int]].self, "{\"some_key\":{\"inner_key\":\"x\"}}")
        pair.expectSame([Int: Int].self, "{\"1\":1,\"2_0\":2}")
        Pair().expectSame([Int: [String]].self, "{\"1\":[\"a\"],\"2\":[]}")
    }

    /// Keys that begin with the same 16 bits of their hashes: the bytes decide.
    @Test
    func collidingKeysAreToldApart() throws {
        for count in [8, 40] {
            let keys = CollidingKeys.make(count: 8) + (8..<count).map { "other\($0)" }
            #expect(Set(keys).count == count)
            let text = "{\(keys.enumerated().map { "\"\($1)\":\($0)" }.joined(separator: ","))}"
            let values = try FastJSONDecoder().decode(Members.self, from: Data(text.utf8)).values
            #expect(values == Dictionary(uniqueKeysWithValues: keys.enumerated().map { ($1, $0) }))
        }
    }

    private struct Members: Decodable {
        let values: [String: Int]
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: AnyKey.self)
            values = try Dictionary(
                uniqueKeysWithValues: container.allKeys.map {
                    ($0.stringValue, try container.decode(Int.self, forKey: $0))
                })
        }
    }

    /// Another process has other random numbers, and so other hashes.
    @Test
    func hashesDependOnTheSeed() {
        var random = Seeded(1)
        let names = (0..<100).map { "key\($0)" }
        func hashes(_ seed: KeySeed) -> [UInt64] { names.map { CollidingKeys.hash($0, seed) } }
        let first = hashes(KeySeed(&random))
        let second = hashes(KeySeed(&random))
        #expect(Set(first).count == names.count && Set(second).count == names.count)
        #expect(zip(first, second).allSatisfy { $0 != $1 })
        #expect(hashes(.process) == hashes(.process))
    }
}

/// Keys of one `keyTag`, which only this process can find: its seed is random.
enum CollidingKeys {
    static func make(count: Int) -> [String] {
        var keys: [String] = []
        var number = 0
        let tag = hash("first", .process).keyTag
        while keys.count < count {
            let key = "a key of some length \(number)"
            if hash(key, .process).keyTag == tag { keys.append(key) }
            number += 1
        }
        return keys
    }

    static func hash(_ name: String, _ seed: KeySeed) -> UInt64 {
        var hash = KeyHash(seed)
        var name = name
        name.withUTF8 { hash.add(Source($0), 0, $0.count) }
        return hash.value
    }
}
