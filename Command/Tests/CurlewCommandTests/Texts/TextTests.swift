// SPDX-License-Identifier: MIT

import Curlew
import CurlewJSON
import Foundation
import Testing

@testable import CurlewCommand

@Suite(.timeLimit(.minutes(1)))
struct TextTests {
    @Test func helpIsGeneratedFromTheTables() async {
        let help = await Run("--help", columns: 100)
        #expect(help.code == 0)
        for option in CommandSpec.named(.request).options { #expect(help.output.contains(option.signature)) }
        for command in CommandName.allCases where command != .request {
            #expect(help.output.contains("  \(command.rawValue)"))
            let own = await Run("help", command.rawValue)
            #expect(own.code == 0 && own.output.hasPrefix("Usage: curlew \(command.rawValue)"))
            #expect(await Run(command.rawValue, "--help").output == own.output)
        }
        #expect(help.output.split(separator: "\n").allSatisfy { $0.count <= 100 })
        #expect(await Run("-h").output == Run("--help").output)
        let nothing = await Run([])
        #expect(nothing.code == 2 && nothing.output.isEmpty && nothing.error.contains("Usage"))
        #expect(await Run("help", "items").output.contains("name:=json"))
        #expect(await Run("help", "exit-codes").output.contains("130"))
        #expect(await Run("help", "itms").error.contains("Topics: items, "))
        #expect(await Run("--version").output == "curlew 0.1\n")
    }

    @Test func formattedJSONIsTheSameJSON() throws {
        var random = SystemRandomNumberGenerator()
        let seed = UInt64.random(in: 0..<1_000_000, using: &random)
        print("TextTests: seed \(seed)")
        for text in [
            "{}", "[]", " [ ] ", "{\"a\":{}}", "[1,2.50,-1e9,true,false,null]", "\"\\u0041\\\"\\\\\"", "1.0",
            "{\"a\" : [ {\"b\":[]} , \"\u{202E}\" ] }",
        ] {
            let shown = try #require(JSONFormatter.format(Data(text.utf8), style: .plain), "\(text)")
            let decoder = FastJSONDecoder()
            #expect(
                try decoder.decode(JSONValue.self, from: Data(shown.utf8))
                    == decoder.decode(JSONValue.self, from: Data(text.utf8)))
            #expect(!shown.unicodeScalars.contains(where: SafeText.isActive))
        }
        for text in ["", "{", "[1,]", "{\"a\"}", "[1 2]", "x", "\"a", "{}{}", "tru", "\"\n\"", "{\"a\":1,}"] {
            #expect(JSONFormatter.format(Data(text.utf8), style: .plain) == nil, "\(text)")
        }
        let deep = String(repeating: "[", count: 100_000)
        #expect(JSONFormatter.format(Data(deep.utf8), style: .plain) == nil)
    }
}
