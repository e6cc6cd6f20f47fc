// SPDX-License-Identifier: MIT

import CurlewJSON
import Foundation
import Testing

/// Objects that are read as dictionaries, and the paths through them.
@Suite(.timeLimit(.minutes(1)))
struct DictionaryTests {
    private static let crowd = (0..<30).map { "\"k\($0)\":0" }.joined(separator: ",")

    /// Where keys are converted all values are read, else only those of the first of equal keys.
    @Test(arguments: [
        "{\"a\":1,\"a\":\"x\"}", "{\"a\":\"x\",\"a\":1}", "{\"a\":1,\"b\":2,\"a\":3}", "{\"é\":1,\"\\u00e9\":\"x\"}",
        "{\"a\":1,\"\\u0061\":\"x\"}", "{\"a_b\":1,\"aB\":\"x\"}", "{\"é\":1,\"e\u{301}\":\"x\"}",
        "{\"a\":1,\"a\":null}",
    ])
    func equalKeysAreReadAlike(text: String) {
        let crowded = "{\(text.dropFirst().dropLast()),\(Self.crowd)}"
        for pair in [Pair(), Pair(keys: .convertFromSnakeCase)] {
            for document in [text, crowded] {
                pair.expectSame([String: Int].self, document)
                pair.expectSame([String: Int?].self, document)
                pair.expectSame([String: [String: Int]].self, "{\"x_y\":\(document)}")
            }
        }
    }

    /// Whatever a model throws, and for a value that nothing needs it is not even asked.
    @Test
    func errorsOfModelsAreNotSwallowed() throws {
        struct Refusal: Error {}
        struct Odd: Decodable, Equatable {
            init(from decoder: any Decoder) throws {
                if try decoder.singleValueContainer().decode(Int.self) % 2 == 0 { throw Refusal() }
            }
        }
        let crowded = "{\"a\":1,\"a\":2,\(Self.crowd.replacingOccurrences(of: ":0", with: ":1"))}"
        for text in ["{\"a\":1,\"a\":2}", crowded] {
            let data = Data(text.utf8)
            #expect(throws: Refusal.self) {
                try FastJSONDecoder(keys: .convertFromSnakeCase).decode([String: Odd].self, from: data)
            }
            #expect(try FastJSONDecoder().decode([String: Odd].self, from: data)["a"] != nil)
        }
    }

    /// Known fields and the rest: a container of the object, and the object as a dictionary.
    private struct Twice: Decodable, Equatable {
        var trace: [String] = []

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: AnyKey.self)
            note { try container.decode([String: Int].self, forKey: AnyKey("userName")) }
            note { try [String: [String: Int]](from: decoder).count }
            note { try decoder.singleValueContainer().decode([String: [String: Int]].self).count }
            note { try container.decode([String: Int].self, forKey: AnyKey("userName")) }
            note {
                try container.nestedContainer(keyedBy: AnyKey.self, forKey: AnyKey("userName")).codingPath
                    .count
            }
            let inner = try? container.nestedContainer(keyedBy: AnyKey.self, forKey: AnyKey("userName"))
            trace.append("\(inner?.codingPath.map(\.stringValue) ?? [])")
            note { try inner?.decode(Int.self, forKey: AnyKey("xY")) }
            note { try inner?.decode([Int].self, forKey: AnyKey("xY")) }
            note { try decoder.container(keyedBy: AnyKey.self).decode([Int].self, forKey: AnyKey("userName")) }
        }

        private mutating func note<Value: Equatable>(_ work: () throws -> Value) {
            trace.append("\(Outcome { try work() })")
        }
    }

    @Test(arguments: [
        "{\"user_name\":{\"x_y\":\"bad\"}}", "{\"user_name\":{\"x_y\":1}}", "{\"user_name\":[{\"x_y\":1}]}",
        "{\"user_name\":{\"x_y\":[\"bad\"],\"z_z\":2}}",
    ])
    func anObjectCanBeReadInBothWays(text: String) {
        for pair in [Pair(), Pair(keys: .convertFromSnakeCase)] {
            pair.expectSame(Twice.self, text)
            pair.expectSame([Twice].self, "[\(text)]")
            pair.expectSame([String: Twice].self, "{\"outer_key\":\(text)}")
            pair.expectSame([String: [String: Twice]].self, "{\"outer_key\":{\"inner_key\":\(text)}}")
        }
    }

    /// The decoder of what is not there, where dictionaries are read without their own initializer.
    @Test
    func theDecoderOfNothingRefusesDictionariesAlike() {
        struct Absent: Decodable, Equatable {
            var trace: [String] = []
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: AnyKey.self)
                for nothing in [
                    try container.superDecoder(), try container.superDecoder(forKey: AnyKey("no")),
                ] {
                    let value = try nothing.singleValueContainer()
                    trace.append("\(Outcome { try value.decode([String: Int].self) })")
                    trace.append("\(Outcome { try value.decode([String: [Int]].self) })")
                    trace.append("\(Outcome { try value.decode([Int: Int].self) })")
                    trace.append("\(Outcome { try value.decode([Int].self) })")
                    trace.append("\(Outcome { try value.decode(Decimal.self) })")
                    trace.append("\(Outcome { try [String: Int](from: nothing) })")
                }
            }
        }
        Pair().expectSame(Absent.self, "{}")
        Pair(keys: .convertFromSnakeCase).expectSame(Absent.self, "{\"a_b\":1}")
    }

    /// Keys of 255 bytes and more have their length elsewhere, also at the beginning and between others.
    @Test(arguments: [254, 255, 256, 300, 5_000])
    func longKeysAreKeysLikeOthers(length: Int) {
        let key = String(repeating: "k", count: length)
        for keys in [
            "\"\(key)\":1", "\"\(key)\":1,\"a\":2", "\"a\":1,\"\(key)\":2,\"b\":3", "\"\":4,\"\(key)\":5,\"\(key)\":6",
        ] {
            for text in ["{\(keys)}", "{\(keys),\(Self.crowd),\"z\":1,\"y\":2,\"x\":3}"] {
                for pair in [Pair(), Pair(keys: .convertFromSnakeCase)] {
                    pair.expectSame([String: Int].self, text)
                    pair.expectSame([String: Int8].self, text)
                    pair.expectSame(Long.self, text)
                }
            }
        }
    }

    /// Looks for keys of every length.
    private struct Long: Decodable, Equatable {
        var found: [Int]
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: AnyKey.self)
            let names =
                [0, 1, 254, 255, 256, 300, 5_000].map { String(repeating: "k", count: $0) } + ["a", "b", "x", "q"]
            found = try names.map { try container.decodeIfPresent(Int.self, forKey: AnyKey($0)) ?? -1 }
            found.append(container.allKeys.count)
        }
    }

    /// Keys are compared by their bytes, Foundation's as strings.
    @Test
    func formsOfACharacterAreDifferentKeys() throws {
        struct Model: Decodable {
            let precomposed: Int?
            let decomposed: Int?
            enum CodingKeys: String, CodingKey {
                case precomposed = "\u{E9}"
                case decomposed = "-"
            }
        }
        let decoder = FastJSONDecoder()
        #expect(try decoder.decode(Model.self, from: Data("{\"\u{E9}\":1}".utf8)).precomposed == 1)
        #expect(try decoder.decode(Model.self, from: Data("{\"\\u00e9\":1}".utf8)).precomposed == 1)
        #expect(try decoder.decode(Model.self, from: Data("{\"e\u{301}\":1}".utf8)).precomposed == nil)
        #expect(try JSONDecoder().decode(Model.self, from: Data("{\"e\u{301}\":1}".utf8)).precomposed == 1)
        // A dictionary has keys of Swift's, of which the first counts.
        #expect(try decoder.decode([String: Int].self, from: Data("{\"e\u{301}\":1,\"\u{E9}\":2}".utf8)) == ["é": 1])
        #expect(try decoder.decode([String: Int8].self, from: Data("{\"e\u{301}\":1,\"\u{E9}\":2}".utf8)) == ["é": 1])
    }
}
