// SPDX-License-Identifier: MIT

import CurlewJSON
import Foundation
import Testing

/// Documents that are made to take long. Times are compared with Foundation's in the same rounds, never with a clock.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct HostileTests {
    private struct EveryKey: Decodable, Equatable {
        var sum: Int

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: AnyKey.self)
            sum = try container.allKeys.reduce(0) { try $0 &+ container.decode(Int.self, forKey: $1) }
        }
    }

    /// Skips what it cannot read, and so makes an error for each element.
    private struct Lossy: Decodable, Equatable {
        var count = 0

        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            while !container.isAtEnd {
                if (try? container.decode(Int.self)) == nil { count += 1 }
                _ = try container.decode(String.self)
            }
        }
    }

    /// One that fails inside, seen from the last to the first.
    private struct Backwards: Decodable, Equatable {
        var failures: Int

        private struct Inner: Decodable { let x: Int }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: AnyKey.self)
            failures =
                container.allKeys.reversed().filter { (try? container.decode(Inner.self, forKey: $0)) == nil }.count
        }
    }

    /// Debug builds are slower than Foundation, which is always optimised; a quadratic step would show all the same,
    /// since it takes hundreds of times as long.
    #if DEBUG
    private let bound = 60.0
    #else
    private let bound = 2.0
    #endif

    private func expectNotSlower<Value: Decodable & Equatable>(_ type: Value.Type, _ text: String) throws {
        let data = Data(text.utf8)
        let foundation = JSONDecoder()
        var ratios: [Double] = []
        for _ in 0..<3 {
            let clock = ContinuousClock()
            var values: [Value] = []
            let slow = try clock.measure { values.append(try foundation.decode(type, from: data)) }
            let fast = try clock.measure { values.append(try FastJSONDecoder().decode(type, from: data)) }
            #expect(values[0] == values[1])
            ratios.append(fast / slow)
        }
        // The best of three, since other programs disturb single rounds.
        #expect((ratios.min() ?? .infinity) < bound, "\(type): \(ratios)")
    }

    @Test(arguments: ["", "\"\\u0061\":1,", "\"é\":1,"])
    func manyKeysTakeLinearTime(first: String) throws {
        let keys = (0..<8_000).map { "\"key\($0)\":\($0)" }
        try expectNotSlower(EveryKey.self, "{\(first)\(keys.joined(separator: ","))}")
    }

    @Test
    func equalKeysTakeLinearTime() throws {
        let keys = (0..<8_000).map { _ in "\"a\":1" }.joined(separator: ",")
        try expectNotSlower(EveryKey.self, "{\(keys)}")
        try expectNotSlower([String: Int].self, "{\(keys)}")
    }

    @Test
    func collidingKeysTakeLinearTime() throws {
        let keys = CollidingKeys.make(count: 8).map { "\"\($0)\":1" }.joined(separator: ",")
        try expectNotSlower([EveryKey].self, "[\((0..<100).map { _ in "{\(keys)}" }.joined(separator: ","))]")
    }

    @Test
    func escapedKeysOfSmallObjects() throws {
        let keys = (0..<31).map { "\"\\u0061\($0)\":\($0)" }.joined(separator: ",")
        try expectNotSlower([EveryKey].self, "[\((0..<100).map { _ in "{\(keys)}" }.joined(separator: ","))]")
    }

    @Test
    func manyErrorsTakeLinearTime() throws {
        try expectNotSlower(Lossy.self, "[\((0..<8_000).map { _ in "\"a\"" }.joined(separator: ","))]")
        let members = (0..<4_000).map { "\"key\($0)\":{\"x\":\"y\"}" }
        try expectNotSlower(Backwards.self, "{\(members.joined(separator: ","))}")
    }

    @Test(arguments: ["", "\\u0061"])
    func errorsBelowALongKey(escape: String) throws {
        let key = escape + String(repeating: "k", count: 400_000)
        try expectNotSlower(
            [String: Lossy].self, "{\"\(key)\":[\((0..<16_000).map { _ in "\"a\"" }.joined(separator: ","))]}")
    }

    @Test
    func longKeysOfSnakeCase() throws {
        struct Few: Decodable, Equatable { var aB: Int?, cD: Int?, eF: Int?, gH: Int? }
        let key = "a_" + String(repeating: "b", count: 400_000)
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let data = Data("{\"\(key)\":1,\"e_f\":2}".utf8)
        let value = try FastJSONDecoder(keys: .convertFromSnakeCase).decode(Few.self, from: data)
        #expect(try value == decoder.decode(Few.self, from: data))
        #expect(value == Few(eF: 2))
    }

    @Test("A long number is cut in the text of an error")
    func longNumberInAnError() throws {
        let error = #expect(throws: DecodingError.self) {
            try FastJSONDecoder().decode([Int].self, from: Data("[\(String(repeating: "3", count: 100_000))]".utf8))
        }
        guard case .dataCorrupted(let context) = error else {
            Issue.record("another error")
            return
        }
        #expect(context.debugDescription.utf8.count < 200 && context.debugDescription.contains("…>"))
    }

    @Test
    func longNumbersTakeLinearTime() throws {
        let digits = String(repeating: "3", count: 200_000)
        try expectNotSlower([Double].self, "[0.\(digits),\(digits)e-200000]")
    }
}
