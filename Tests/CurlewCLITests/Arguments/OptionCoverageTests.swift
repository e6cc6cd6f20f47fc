// SPDX-License-Identifier: MIT

import CurlewTesting
import Foundation
import TestServers
import Testing

@testable import CurlewCLI

/// Every option of the help is in the text of a test: `--name`, or `-n`.
@Suite(.timeLimit(.minutes(1)))
struct OptionCoverageTests {
    @Test func everyOptionIsTested() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        guard let files = FileManager.default.enumerator(atPath: folder.path) else {
            print("The sources of the tests are not here: the coverage of options was not checked.")
            return
        }
        var text = ""
        for case let name as String in files where name.hasSuffix("Tests.swift") && !name.contains("Coverage") {
            text += try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
        }
        for option in OptionTable.all {
            let uses = ["\"\(option.long)\"", "\"\(option.long)=", " \(option.long) "]
            #expect(uses.contains { text.contains($0) }, "no test has \(option.long)")
        }
    }
}
