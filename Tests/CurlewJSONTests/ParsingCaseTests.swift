// SPDX-License-Identifier: MIT

import CurlewJSON
import Foundation
import Testing

/// What every parser of JSON is asked. Nothing reads the values, so that it is the scanner that answers.
@Suite(.timeLimit(.minutes(1)))
struct ParsingCaseTests {
    private struct Ignored: Decodable {
        init(from decoder: any Decoder) throws {}
    }

    private func isAccepted(_ data: Data) -> Bool {
        (try? FastJSONDecoder().decode(Ignored.self, from: data)) != nil
    }

    private func isAccepted(_ text: String) -> Bool { isAccepted(Data(text.utf8)) }

    @Test
    func thereAreAllOfThem() {
        typealias Cases = ParsingCases
        let refused = Cases.refused.count + Cases.refusedBytes.count
        let open =
            Cases.openAndAccepted.count + Cases.openAndRefused.count + Cases.openAndRefusedBytes.count
        #expect(Cases.accepted.count == 95 && refused == 188 && open == 35)
    }

    @Test(arguments: ParsingCases.accepted + ParsingCases.openAndAccepted)
    func isAcceptedAsJSON(text: String) { #expect(isAccepted(text)) }

    @Test(arguments: ParsingCases.refused + ParsingCases.openAndRefused)
    func invalidCasesAreRefused(text: String) { #expect(!isAccepted(text)) }

    @Test(arguments: ParsingCases.refusedBytes + ParsingCases.openAndRefusedBytes)
    func bytesAreRefused(bytes: [UInt8]) { #expect(!isAccepted(Data(bytes))) }

    /// As a value: numbers that a Double does not hold are refused then.
    @Test(arguments: ParsingCases.accepted)
    func everyAcceptedCaseHasAValue(text: String) throws {
        let value = try FastJSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
        #expect(try value == JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)))
    }
}
