// SPDX-License-Identifier: MIT

#if !canImport(SwiftUI)
import ExampleTestSupport
import Foundation
import Testing

/// The program as it is built, in a real terminal and without one.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct ConversationTests {
    @Test("A story grows, Ctrl-C stops it but not the program, and one that fails is told again")
    func conversation() async throws {
        let terminal = try Tmux(
            columns: 80, rows: 50, "'\(try builtProgram("Storyteller"))' --slow; echo \"status $?\"; exec cat")
        try await terminal.wait(for: "A story about")
        try terminal.press("a bird", "Enter")
        try await terminal.wait(for: "Once a curlew lived")
        try terminal.press("C-c")
        try await terminal.wait(for: "stopped")
        try await terminal.wait("second question") { $0.components(separatedBy: "A story about").count == 3 }

        try terminal.press("the sea", "Enter")
        try await terminal.wait(for: "The model is overloaded. Try again.")
        try await terminal.wait(for: "Again? [Y/n]")
        try terminal.press("Enter")
        try await terminal.wait("third story") { $0.components(separatedBy: "Once a curlew").count == 4 }
        try terminal.press("C-c")
        try await terminal.wait("third question") { $0.components(separatedBy: "A story about").count == 4 }
        try terminal.press("Enter")
        let screen = try await terminal.wait(for: "status 0")
        #expect(!screen.contains("both of them."), "no story has come to its end")
    }

    @Test("Without a terminal the scenes are shown, all checks hold, and nothing is for a terminal only")
    func scenes() throws {
        let (status, output) = try runProgram([try builtProgram("Storyteller")])
        #expect(status == 0, "\(output)")
        #expect(!output.contains("\u{1B}"))
        #expect(output.split(separator: "\n").allSatisfy { $0.count <= 80 })
    }
}
#endif
