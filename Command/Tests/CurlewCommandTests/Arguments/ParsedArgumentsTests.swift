// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCommand

@Suite(.timeLimit(.minutes(1)))
struct ParsedArgumentsTests {
    @Test func optionsAndOperandsMix() throws {
        let parsed = try ParsedArguments(["-fv", "POST", "--print=h", "host", "-oout", "--auth", "a:b", "--", "--x=1"])
        #expect(parsed.command == .request)
        #expect(parsed.operands == ["POST", "host", "--x=1"])
        #expect(parsed.has(.form) && parsed.has(.verbose) && !parsed.has(.json))
        #expect(parsed[.print] == "h" && parsed[.output] == "out" && parsed[.auth] == "a:b")
    }

    @Test func theLastOfEqualOptionsIsUsed() throws {
        #expect(try ParsedArguments(["--retry", "1", "--retry=2"]).number(.retry, in: 0...9) == 2)
    }

    @Test func anUnknownOptionPointsToTheHelp() throws {
        for written in ["--zzzzzzzzzz", "--jsn", "-z", "-Z"] {
            let error = #expect(throws: UsageError.self) { try ParsedArguments([written]) }
            #expect(error?.advice == "Run `curlew --help`.", "\(written)")
        }
        let other = #expect(throws: UsageError.self) { try ParsedArguments(["serve", "-v"]) }
        #expect(other?.advice == "It is an option of: requests, curl.")
    }

    @Test func optionsOfOtherProgramsAreExplained() {
        for option in ["-k", "-X", "-H", "-d", "-u", "-x", "-L"] {
            let error = #expect(throws: UsageError.self) { try ParsedArguments([option]) }
            #expect(error?.advice != "Run `curlew --help`.", "\(option)")
        }
    }

    @Test(arguments: [
        ["--output"], ["-o"], ["--json=1"], ["--color=blue"], ["serve", "--json"], ["--port=1"],
        ["serve", "x"], ["completions", "bash", "zsh"], ["help", "a", "b"],
        ["events", "--print=h"], ["ws", "--timing"], ["upload", "-o", "x"],
    ])
    func unusableOptionsAreRefused(_ arguments: [String]) {
        #expect(throws: UsageError.self) { try ParsedArguments(arguments) }
    }

    @Test func numbersHaveRanges() throws {
        for text in ["x", "-1", "101", "1.5"] {
            #expect(throws: UsageError.self) { try ParsedArguments(["--retry=\(text)"]).number(.retry, in: 0...100) }
        }
        for text in ["x", "-1", "0", "inf", "nan"] {
            #expect(throws: UsageError.self, "\(text)") {
                try ParsedArguments(["--max-time=\(text)"]).seconds(.maxTime)
            }
        }
        #expect(try ParsedArguments(["--max-time=1.5"]).seconds(.maxTime) == .milliseconds(1500))
    }

    @Test func theTableNamesEveryOptionOnce() {
        #expect(Set(OptionTable.all.map(\.name)) == Set(OptionName.allCases))
        #expect(OptionTable.all.count == OptionName.allCases.count)
        let shorts = OptionTable.all.compactMap(\.short)
        #expect(Set(shorts).count == shorts.count)
        #expect(Set(CommandSpec.all.map(\.name)) == Set(CommandName.allCases))
        for option in OptionTable.all {
            #expect(CommandSpec.all.contains { $0.groups.contains(option.group) }, "\(option.long)")
        }
    }
}
