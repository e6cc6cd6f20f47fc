// SPDX-License-Identifier: MIT

import CurlewJSON
import Foundation
import Testing

/// Models that do anything with a decoder, on documents that hold anything, through Foundation and through us.
///
/// `CURLEW_JSON_DOCUMENTS` is how many documents: a few in every run, a million before a release, in a release build:
///
///     CURLEW_JSON_DOCUMENTS=1000000 swift test -c release -Xswiftc -enable-testing --filter ScriptTests
@Suite(.timeLimit(.minutes(60)))
struct ScriptTests {
    private static let documents =
        ProcessInfo.processInfo.environment["CURLEW_JSON_DOCUMENTS"].flatMap { Int($0) } ?? 1_600

    @Test(arguments: 0..<8)
    func scriptsGiveTheSameTraces(part: Int) throws {
        let first = UInt64(ProcessInfo.processInfo.environment["CURLEW_JSON_SEED"].flatMap { Int($0) } ?? 1)
        var differences = 0
        for number in 0..<max(1, Self.documents / 8) where differences < 5 {
            let seed = first &* 1_000_003 &+ UInt64(part) << 40 &+ UInt64(number)
            if try !isSame(seed: seed) { differences += 1 }
        }
    }

    private func isSame(seed: UInt64) throws -> Bool {
        var source = RandomJSON(seed: seed)
        // No two forms of one character among the keys: they are compared by bytes.
        let text = source.document().replacingOccurrences(of: "e\\u0301", with: "e")
        let key = try #require(Script.seed)
        var pair = Pair(keys: seed % 3 == 0 ? .convertFromSnakeCase : .useDefaultKeys)
        pair.foundation.userInfo[key] = seed
        pair.fast.userInfo[key] = seed
        let data = Data(text.utf8)
        let note = "(seed \(seed))"
        return switch seed % 4 {
        case 0: isSame(pair, [String: Script].self, data, note)
        case 1: isSame(pair, [Script].self, data, note)
        default: isSame(pair, Script.self, data, note)
        }
    }

    private func isSame<Value: Decodable & Equatable>(
        _ pair: Pair, _ type: Value.Type, _ data: Data, _ note: String
    ) -> Bool {
        let (expected, actual) = pair.outcomes(type, data)
        if expected == actual { return true }
        // What both have written until then says nothing.
        let (one, other) = ("\(expected)", "\(actual)")
        let common = zip(one, other).prefix { $0 == $1 }.count
        func rest(_ text: String) -> String { String(text.dropFirst(max(0, common - 100)).prefix(300)) }
        let document = String(decoding: data, as: UTF8.self)
        Issue.record("\(note) \(type)\nFoundation: \(rest(one))\nCurlew: \(rest(other))\nfrom \(document)")
        return false
    }
}
