// SPDX-License-Identifier: MIT

#if !canImport(SwiftUI)
import ExampleTestSupport
import Foundation
import Testing

@testable import TopQuestions

/// The program as it is built, in a real terminal.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct TerminalTests {
    /// The program between two readings of the terminal's settings, which have to be the same.
    private func terminal(_ words: [String] = [], columns: Int = 80, rows: Int = 24) throws -> Tmux {
        let program = try builtProgram("TopQuestions")
        let command = """
            settings=$(stty -g); echo before; '\(program)' \(words.joined(separator: " ")); echo "status $?"
            [ "$(stty -g)" = "$settings" ] && echo restored; exec cat
            """
        return try Tmux(columns: columns, rows: rows, command)
    }

    private func expectRestored(_ terminal: Tmux, status: Int) async throws {
        let screen = try await terminal.wait(for: "restored")
        #expect(screen.contains("before\nstatus \(status)\nrestored"), "the first screen is back, with nothing else")
        #expect(try terminal.value("#{alternate_on} #{cursor_flag} #{wrap_flag}") == "0 1 1")
    }

    @Test("List, move, open, back, resize and quit")
    func walk() async throws {
        let terminal = try terminal()
        let list = try await terminal.wait(for: "▸ 1.3k  When does a SwiftUI view ask for its data again?")
        #expect(list.contains("   841  Cancel a request when the view goes away"))
        #expect(list.contains("11 answers · 703k views · 2020-04-28 · swift, swiftui"))
        try terminal.press("j")
        try await terminal.wait(for: "▸  841")
        try terminal.press("Down")
        try await terminal.wait(for: "▸  412")
        try terminal.press("Up", "Enter")
        let question = try await terminal.wait(for: "PNG, 1 kB")
        #expect(question.contains("The user leaves the screen before the answer is there"))
        #expect(question.contains("Tony Hoare") && question.contains("34k reputation") && question.contains("▀▀▀▀"))
        try terminal.press("b")
        try await terminal.wait(for: "▸  841")

        try terminal.resize(columns: 30, rows: 10)
        let small = try await terminal.wait("title that is cut") {
            $0.hasPrefix(" Top questions") && $0.prefix { $0 != "\n" }.hasSuffix("…")
        }
        #expect(small.contains("▸  841"), "what is selected stays in sight")
        #expect(small.split(separator: "\n").allSatisfy { $0.columns <= 30 })
        try terminal.resize(columns: 100, rows: 30)
        try await terminal.wait("hint in the last row") {
            $0.split(separator: "\n", omittingEmptySubsequences: false).dropFirst(29).first?.contains("q quit") == true
        }

        try terminal.press("q")
        try await expectRestored(terminal, status: 0)
    }

    @Test("An error, and a retry that mends it, in the list and in a question")
    func errors() async throws {
        let terminal = try terminal()
        let message = "The service is not available right now."
        try await terminal.wait(for: "▸ 1.3k")
        try terminal.press("f")
        try await terminal.wait(for: "the next call fails")
        try terminal.press("r")
        let failed = try await terminal.wait(for: message)
        #expect(failed.contains("▸ 1.3k"), "what was there stays")
        try terminal.press("r")
        try await terminal.wait("list without an error") { $0.contains("▸ 1.3k") && !$0.contains(message) }

        try terminal.press("f", "Enter")
        let opened = try await terminal.wait(for: message)
        #expect(opened.contains("1.3k votes") && !opened.contains("My list loads twice"))
        try terminal.press("r")
        try await terminal.wait(for: "My list loads twice when I come back to it. I expected task to run once …")
        try terminal.press("Escape")
        try await terminal.wait(for: "▸ 1.3k")
        try terminal.press("C-c")
        try await expectRestored(terminal, status: 0)
    }

    @Test("A slow service shows the wheel until the list is there")
    func slow() async throws {
        let terminal = try terminal(["--slow"])
        try await terminal.wait("a wheel and no list") { $0.contains("Loading …") && !$0.contains("▸") }
        try await terminal.wait(for: "▸ 1.3k")
        try terminal.press("q")
        try await expectRestored(terminal, status: 0)
    }

    @Test("A signal ends it as a key does: the terminal is returned", arguments: [SIGTERM, SIGINT, SIGHUP])
    func signals(number: Int32) async throws {
        let terminal = try terminal()
        try await terminal.wait(for: "▸ 1.3k")
        let shell = try terminal.value("#{pane_pid}")
        let children = try String(contentsOfFile: "/proc/\(shell)/task/\(shell)/children", encoding: .utf8)
        let program = try #require(pid_t(children.trimmingCharacters(in: .whitespacesAndNewlines)), "\(children)")
        kill(program, number)
        try await expectRestored(terminal, status: 128 + Int(number))
    }

    @Test("Without a terminal it prints the list and the first question")
    func plain() throws {
        let (status, output) = try runProgram([try builtProgram("TopQuestions"), "--tag", "swiftui"])
        #expect(status == 0)
        #expect(output.contains("1.3k  When does a SwiftUI view ask for its data again?"))
        #expect(output.contains("356  Show a placeholder while an image loads"))
        #expect(output.contains("Ada Lovelace\n 91k reputation\n PNG, 1 kB\n"))
        #expect(!output.contains("\u{1B}") && !output.contains("two requests at the same time"))
        #expect(output.split(separator: "\n").allSatisfy { $0.count <= 80 })
    }

    @Test("It explains itself, and refuses what it does not know")
    func usage() throws {
        let help = try runProgram([try builtProgram("TopQuestions"), "--help"])
        #expect(help.status == 0 && help.output.contains("--live") && help.output.contains("api.stackexchange.com"))
        let refused = try runProgram([try builtProgram("TopQuestions"), "--unknown"])
        #expect(refused.status == 2 && refused.output.contains("--live"))
    }
}
#endif
