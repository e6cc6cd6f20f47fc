// SPDX-License-Identifier: MIT

import CurlewJSON
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1)))
struct DecoderTests {
    /// Keeps what it is given.
    private final class Keeper: Decodable {
        let decoder: any Decoder
        init(from decoder: any Decoder) throws { self.decoder = decoder }
    }

    private final class ContainerKeeper: Decodable {
        let keyed: KeyedDecodingContainer<Keys>
        var list: any UnkeyedDecodingContainer
        enum Keys: CodingKey { case list, text }
        init(from decoder: any Decoder) throws {
            keyed = try decoder.container(keyedBy: Keys.self)
            list = try keyed.nestedUnkeyedContainer(forKey: .list)
        }
    }

    /// The bytes are released when the decoder is used; it must use a copy.
    @Test
    func anEscapedDecoderKeepsWorking() throws {
        func keeper() throws -> Keeper {
            var data = Data("{\"a\":[1,2,3],\"text\":\"a long text that is not stored inline, é\"}".utf8)
            let keeper = try FastJSONDecoder().decode(Keeper.self, from: data)
            data.resetBytes(in: 0..<data.count)
            return keeper
        }
        struct Model: Decodable, Equatable {
            let a: [Int]
            let text: String
        }
        let model = try Model(from: try keeper().decoder)
        #expect(model == Model(a: [1, 2, 3], text: "a long text that is not stored inline, é"))
    }

    /// Each reads the value that it was made for, where Foundation's read where the decoder has got to.
    @Test
    func keptDecodersStayWithTheirValues() throws {
        let kept = try FastJSONDecoder().decode([Keeper].self, from: Data("[10,20,\"x\"]".utf8))
        #expect(try kept.prefix(2).map { try Int(from: $0.decoder) } == [10, 20])
        #expect(try kept[2].decoder.singleValueContainer().decode(String.self) == "x")
        let path = kept.map { $0.decoder.codingPath.map(\.stringValue) }
        #expect(path == [["Index 0"], ["Index 1"], ["Index 2"]])
        let map = try FastJSONDecoder().decode([String: Keeper].self, from: Data("{\"a\":1,\"b\":{\"a\":2}}".utf8))
        #expect(try map["a"].map { try Int(from: $0.decoder) } == 1)
        #expect(try map["b"].map { try [String: Int](from: $0.decoder) } == ["a": 2])
    }

    @Test
    func escapedContainersKeepWorking() throws {
        var data = Data("{\"list\":[1,2],\"text\":\"another long text, which is elsewhere\"}".utf8)
        let keeper = try FastJSONDecoder().decode(ContainerKeeper.self, from: data)
        data.resetBytes(in: 0..<data.count)
        #expect(try keeper.keyed.decode(String.self, forKey: .text) == "another long text, which is elsewhere")
        #expect(try keeper.list.decode(Int.self) == 1)
        #expect(try keeper.list.decode(Int.self) == 2)
    }

    /// Also when decoding fails after the decoder was kept.
    @Test
    func aDecoderKeptByAFailedModelWorks() throws {
        final class Box { var decoder: (any Decoder)? }
        struct Model: Decodable {
            init(from decoder: any Decoder) throws {
                (decoder.userInfo.values.first as? Shelf)?.box.decoder = decoder
                _ = try decoder.container(keyedBy: ContainerKeeper.Keys.self).decode(Int.self, forKey: .text)
            }
        }
        struct Shelf: @unchecked Sendable { let box = Box() }
        let shelf = Shelf()
        var decoder = FastJSONDecoder()
        decoder.userInfo[try #require(CodingUserInfoKey(rawValue: "shelf"))] = shelf
        var data = Data("{\"text\":\"one more text that is long enough\"}".utf8)
        #expect(throws: DecodingError.self) { try decoder.decode(Model.self, from: data) }
        data.resetBytes(in: 0..<data.count)
        let kept = try #require(shelf.box.decoder)
        // The decoder holds the shelf by its user info.
        shelf.box.decoder = nil
        #expect(try [String: String](from: kept) == ["text": "one more text that is long enough"])
    }

    /// RFC 8259 §8.1.
    @Test
    func otherEncodingsAreRefused() throws {
        for text in ["{\"a\":[1,\"é😀\"]}", "[]", "5", "\"x\""] {
            Pair().expectSame(Tree.self, Data([0xEF, 0xBB, 0xBF]) + Data(text.utf8), "UTF-8 with a mark")
            for encoding in [String.Encoding.utf16BigEndian, .utf16LittleEndian, .utf32BigEndian, .utf32LittleEndian] {
                for mark in [[], [0xFE, 0xFF], [0xFF, 0xFE], [0, 0, 0xFE, 0xFF], [0xFF, 0xFE, 0, 0]] as [[UInt8]] {
                    let data = Data(mark) + (try #require(text.data(using: encoding)))
                    #expect(throws: DecodingError.self) { try FastJSONDecoder().decode(Tree.self, from: data) }
                }
            }
        }
        for bytes in [[0xEF, 0xBB], [0, 0], [0xFF, 0xFF], [0xEF, 0xBB, 0xBF]] as [[UInt8]] {
            #expect(throws: DecodingError.self) { try FastJSONDecoder().decode(Tree.self, from: Data(bytes)) }
        }
    }

    /// Slices of `Data` do not begin at 0.
    @Test
    func slicesAreReadWhereTheyBegin() throws {
        let data = Data("garbage[1,2]garbage".utf8)
        #expect(try FastJSONDecoder().decode([Int].self, from: data[7..<12]) == [1, 2])
    }

    @Test
    func stringsAreExact() throws {
        let text =
            "[\"\\u0000\\u001f\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\u20ac\\ud83d\\ude00\",\"0123456\\n\",\"01234567\\n9\"]"
        let strings = try FastJSONDecoder().decode([String].self, from: Data(text.utf8))
        #expect(strings == ["\u{0}\u{1F}\"\\/\u{8}\u{C}\n\r\té€😀", "0123456\n", "01234567\n9"])
        Pair().expectSame([String].self, text)
    }

    @Test
    func classesInheritThroughSuper() {
        class Base: Decodable { let a: Int }
        final class Derived: Base, Equatable {
            let b: Int
            enum Keys: CodingKey { case b }
            required init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Keys.self)
                b = try container.decode(Int.self, forKey: .b)
                try super.init(from: try container.superDecoder())
            }
            static func == (left: Derived, right: Derived) -> Bool { left.a == right.a && left.b == right.b }
        }
        Pair().expectSame(Derived.self, "{\"b\":1,\"super\":{\"a\":2}}")
        Pair().expectSame(Derived.self, "{\"b\":1}")
        Pair().expectSame(Derived.self, "{\"b\":1,\"super\":{\"a\":null}}")
    }

    @Test
    func userInfoReachesModels() throws {
        struct Model: Decodable {
            let found: Int?
            init(from decoder: any Decoder) throws { found = decoder.userInfo.values.first as? Int }
        }
        var decoder = FastJSONDecoder()
        decoder.userInfo[try #require(CodingUserInfoKey(rawValue: "n"))] = 5
        #expect(try decoder.decode([Model].self, from: Data("[{}]".utf8)).first?.found == 5)
    }

    /// What a model keeps can be read by many threads at once, with hits, misses, paths and errors: reading changes
    /// nothing that they share.
    @Test
    func keptContainersAreReadByManyTasks() async throws {
        struct Shared: @unchecked Sendable {
            let keyed: KeyedDecodingContainer<AnyKey>
            let decoder: any Decoder
        }
        struct Keeping: Decodable {
            let shared: Shared
            init(from decoder: any Decoder) throws {
                shared = Shared(keyed: try decoder.container(keyedBy: AnyKey.self), decoder: decoder)
            }
        }
        let many = (0..<40).map { "\"k\($0)\":\($0)" }.joined(separator: ",")
        let text = "{\"first_name\":\"x\",\"é\":[1,\"y\",{\"a_b\":null}],\"wide\":{\(many)},\"map\":{\"a_b\":1}}"
        for keys in [FastJSONDecoder.KeyStrategy.useDefaultKeys, .convertFromSnakeCase] {
            let shared = try FastJSONDecoder(keys: keys).decode(Keeping.self, from: Data(text.utf8)).shared
            let expected = Self.reading(shared.keyed, shared.decoder)
            await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        (0..<20).allSatisfy { _ in Self.reading(shared.keyed, shared.decoder) == expected }
                    }
                }
                for await isSame in group { #expect(isSame) }
            }
        }
    }

    /// Also while the model that made it is still being read.
    @Test
    func aModelMayReadOnSeveralThreads() throws {
        struct Parallel: Decodable {
            init(from decoder: any Decoder) throws {
                struct Shared: @unchecked Sendable { let keyed: KeyedDecodingContainer<AnyKey>, decoder: any Decoder }
                let shared = Shared(keyed: try decoder.container(keyedBy: AnyKey.self), decoder: decoder)
                let expected = DecoderTests.reading(shared.keyed, shared.decoder)
                DispatchQueue.concurrentPerform(iterations: 8) { _ in
                    #expect(DecoderTests.reading(shared.keyed, shared.decoder) == expected)
                }
            }
        }
        let text =
            "{\"first_name\":\"x\",\"é\":[1,\"y\",{\"a_b\":null}],\"wide\":{\"k1\":1,\"k2\":2},\"map\":{\"a_b\":1}}"
        for _ in 0..<20 { _ = try FastJSONDecoder().decode(Parallel.self, from: Data(text.utf8)) }
    }

    private static func reading(_ keyed: KeyedDecodingContainer<AnyKey>, _ decoder: any Decoder) -> [String] {
        func text<Value: Equatable>(_ work: () throws -> Value) -> String { "\(Outcome { try work() })" }
        return [
            text { try keyed.decode(String.self, forKey: AnyKey("first_name")) },
            text { try keyed.decode(String.self, forKey: AnyKey("firstName")) },
            text { try keyed.decode([Int].self, forKey: AnyKey("é")) },
            text { try keyed.decode([Tree].self, forKey: AnyKey("é")) },
            text { try keyed.decode([String: String].self, forKey: AnyKey("map")) },
            text { try keyed.decode([String: Int].self, forKey: AnyKey("map")) == ["a_b": 1] },
            text {
                try keyed.nestedContainer(keyedBy: AnyKey.self, forKey: AnyKey("wide")).allKeys.map(\.stringValue)
            },
            text {
                try keyed.nestedContainer(keyedBy: AnyKey.self, forKey: AnyKey("wide"))
                    .decode(Bool.self, forKey: AnyKey("k2"))
            },
            text { decoder.userInfo.count + decoder.codingPath.count },
        ]
    }

    /// The decoder is a value without state: many tasks use one.
    @Test
    func isSharedBetweenTasks() async throws {
        let decoder = FastJSONDecoder()
        let data = Data("[{\"id\":1,\"name\":\"x\"},{\"id\":2,\"map\":{\"a\":1}}]".utf8)
        let expected = try decoder.decode([Record].self, from: data)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try (0..<100).allSatisfy { _ in try decoder.decode([Record].self, from: data) == expected }
                }
            }
            for try await isSame in group { #expect(isSame) }
        }
    }
}
