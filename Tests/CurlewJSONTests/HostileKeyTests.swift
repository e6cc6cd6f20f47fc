// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import CurlewJSON

/// Keys that are slow to compare as strings, and documents whose paths are long. Times are compared with those of
/// another document in the same rounds, never with a clock.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct HostileKeyTests {
    private struct Ten: Decodable {
        var aa: Int?, bb: Int?, cc: Int?, dd: Int?, ee: Int?, ff: Int?, gg: Int?, hh: Int?, ii: Int?, jj: Int?
    }

    /// Every kind of name, most of them without a key.
    private struct Names: Decodable {
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: AnyKey.self)
            for name in ["a", "aé", "a\u{315}", "é", "b", "größe", "a\u{300}\u{315}"] {
                _ = container.contains(AnyKey(name))
            }
            _ = container.allKeys
        }
    }

    /// How many times longer the second decoding takes; the least of three, since other programs disturb single rounds.
    private static func ratio(_ first: () throws -> Void, _ second: () throws -> Void) rethrows -> Double {
        var least = Double.infinity
        for _ in 0..<3 {
            let short = try time(first)
            let long = try time(second)
            least = min(least, long / max(short, 1e-6))
        }
        return least
    }

    private static func time(_ work: () throws -> Void) rethrows -> Double {
        var before = timespec()
        var after = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before)
        try work()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after)
        return Double(after.tv_sec - before.tv_sec) + Double(after.tv_nsec - before.tv_nsec) / 1e9
    }

    private static func marks(_ bytes: Int) -> String { String(repeating: "\u{315}\u{300}", count: bytes / 4) }

    /// Thirty-two times the length: far less than a thousand times the time.
    @Test(arguments: ["\"a#\":1", "\"a#\":1,\"é\":2", "\"\\u0061#\":1", "\"a_#_b\":1"])
    func combiningMarksAreNotQuadratic(member: String) throws {
        func decode(_ bytes: Int) throws {
            let data = Data("{\(member.replacingOccurrences(of: "#", with: Self.marks(bytes)))}".utf8)
            for keys in [FastJSONDecoder.KeyStrategy.useDefaultKeys, .convertFromSnakeCase] {
                _ = try FastJSONDecoder(keys: keys).decode(Ten.self, from: data)
                _ = try FastJSONDecoder(keys: keys).decode(Names.self, from: data)
            }
        }
        #expect(try Self.ratio({ try decode(8_000) }, { try decode(256_000) }) < 200)
    }

    @Test
    func aDictionaryRefusesWhatIsSlowToCompare() throws {
        let key = "a" + Self.marks(400_000)
        for text in ["{\"\(key)\":1}", "{\"b\":1,\"\(key)\":1}", "[{\"\(key)\":1}]"] {
            let data = Data(text.utf8)
            for outcome in [
                Outcome { try FastJSONDecoder().decode([String: Int].self, from: data).count },
                Outcome { try FastJSONDecoder().decode([String: Double].self, from: data).count },
                Outcome { try FastJSONDecoder().decode([[String: Double]].self, from: data).count },
                Outcome {
                    try FastJSONDecoder(keys: .convertFromSnakeCase).decode([String: Bool].self, from: data).count
                },
                Outcome { try FastJSONDecoder().decode(JSONValue.self, from: data).int ?? 0 },
            ] as [Outcome<Int>] {
                guard case .failure(let failure) = outcome else {
                    Issue.record("\(outcome)")
                    continue
                }
                #expect(failure.text.contains("combining marks") || failure.kind.hasPrefix("typeMismatch"))
            }
        }
        // As many as any language needs are keys like others; so are many that do not follow each other.
        let most = "a" + String(String.UnicodeScalarView(repeatElement("\u{300}", count: 30)))
        for key in [most, most + most, String(repeating: "é", count: 200), String(repeating: "e\u{301}", count: 200)] {
            let data = Data("{\"\(key)\":1}".utf8)
            #expect(try FastJSONDecoder().decode([String: Int].self, from: data) == [key: 1])
            #expect(try FastJSONDecoder().decode(JSONValue.self, from: data) == [key: 1])
        }
        let tooMany = Data("{\"\(most)\u{300}\":1}".utf8)
        #expect(throws: DecodingError.self) { try FastJSONDecoder().decode([String: Int].self, from: tooMany) }
        #expect(throws: DecodingError.self) { try FastJSONDecoder().decode([String: Bool].self, from: tooMany) }
    }

    /// The same elements, each of which fails a few times before it is read: at the top, and 500 levels down.
    @Test
    func errorsCostTheSameAtAnyDepth() throws {
        @Sendable func decode(_ depth: Int) throws {
            let elements = (0..<5_000).map { _ in "\"a\"" }.joined(separator: ",")
            let text = String(repeating: "[", count: depth) + elements + String(repeating: "]", count: depth)
            _ = try FastJSONDecoder().decode(JSONValueByTrial.self, from: Data(text.utf8))
        }
        // Deep models take stack, of which the threads of tests may have little.
        let ratio = onThread(stack: 16 << 20) { try Self.ratio({ try decode(1) }, { try decode(500) }) }
        #expect((ratio ?? .infinity) < 8)
    }

    /// Seen from the last to the first.
    @Test
    func numbersOfElementsAreNotCountedFromTheStart() throws {
        final class Keeper: Decodable {
            let decoder: any Decoder
            init(from decoder: any Decoder) throws { self.decoder = decoder }
        }
        func paths(_ count: Int) throws {
            let data = Data("[\((0..<count).map { _ in "1" }.joined(separator: ","))]".utf8)
            let kept = try FastJSONDecoder().decode([Keeper].self, from: data)
            for index in stride(from: count - 1, through: 0, by: -1) {
                #expect(kept[index].decoder.codingPath.first?.intValue == index)
            }
        }
        #expect(try Self.ratio({ try paths(300) }, { try paths(9_600) }) < 250)
    }

    /// Eight bytes and less for each value and key: four times the document and a little.
    @Test(arguments: [
        "1", "0.5", "1e5", "12345678", "[]", "[0]", "{}", "{\"a\":1}", "{\"é\":1}", "{\"\":0}", "\"\"", "\"\\n\"",
        "null",
        "{\"größe\":1,\"länge\":2,\"höhe\":3}", "{\"\\u0061\":1}", "[[[0]]]",
        "{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6,\"g\":7,\"h\":8}",
    ])
    func theTapeHasFourTimesTheDocumentAtMost(element: String) throws {
        for keys in [false, true] {
            try expectSmallTape("[\((0..<5_000).map { _ in element }.joined(separator: ","))]", convertsKeys: keys)
        }
    }

    @Test(arguments: [33, 40, 49, 1_000, 20_000])
    func tablesOfKeysAreSmall(count: Int) throws {
        let members = (0..<count).map { "\"\(String($0, radix: 36))\":1" }
        try expectSmallTape("{\(members.joined(separator: ","))}", convertsKeys: false)
    }

    private func expectSmallTape(_ text: String, convertsKeys: Bool) throws {
        var text = text
        try text.withUTF8 { bytes in
            let keys = KeyReader(source: Source(bytes), convertsKeys: convertsKeys, seed: .process)
            let tape = try Scanner.tape(for: keys)
            defer { tape.deallocate() }
            #expect(tape.count * MemoryLayout<Cell>.size <= 4 * bytes.count + 256)
        }
    }
}

/// As models do that try one type after the other.
private indirect enum JSONValueByTrial: Decodable {
    case bool, int, double, string
    case array([JSONValueByTrial])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if (try? container.decode(Bool.self)) != nil {
            self = .bool
        } else if (try? container.decode(Int.self)) != nil {
            self = .int
        } else if (try? container.decode(Double.self)) != nil {
            self = .double
        } else if (try? container.decode(String.self)) != nil {
            self = .string
        } else {
            self = .array(try container.decode([JSONValueByTrial].self))
        }
    }
}
