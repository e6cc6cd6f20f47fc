// SPDX-License-Identifier: MIT

#if !canImport(SwiftUI)
import Foundation

/// A terminal that a test types into and looks at: a tmux server of its own, which ends with this object.
package final class Tmux: Sendable {
    private let socket = "examples-\(getpid())-\(UInt64.random(in: .min ... .max))"

    /// Starts a shell command in a terminal of this size.
    package init(columns: Int, rows: Int, _ command: String) throws {
        do {
            try run("-f", "/dev/null", "new-session", "-d", "-x", "\(columns)", "-y", "\(rows)", command)
        } catch {
            throw ProgramFailure(description: "this test needs tmux, which Scripts/setup installs: \(error)")
        }
        try run("set-option", "-g", "status", "off")
        try resize(columns: columns, rows: rows)
    }

    deinit {
        _ = try? run("kill-server")
    }

    /// Presses keys, by their names in tmux.
    package func press(_ keys: String...) throws {
        try run(["send-keys"] + keys)
    }

    package func resize(columns: Int, rows: Int) throws {
        try run("resize-window", "-x", "\(columns)", "-y", "\(rows)")
    }

    /// The value of a format: `#{alternate_on}`.
    package func value(_ format: String) throws -> String {
        try run("display-message", "-p", format).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    package func screen() throws -> String {
        try run("capture-pane", "-p")
    }

    /// The screen as soon as it is as expected. Looks again and again, for half a minute at most.
    @discardableResult
    package func wait(_ what: String, until isExpected: (String) -> Bool) async throws -> String {
        let end = ContinuousClock.now + .seconds(30)
        while true {
            let screen = try screen()
            if isExpected(screen) { return screen }
            guard ContinuousClock.now < end else {
                throw ProgramFailure(description: "no \(what) on this screen:\n\(screen)")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    @discardableResult
    package func wait(for text: String) async throws -> String {
        try await wait("“\(text)”") { $0.contains(text) }
    }

    @discardableResult
    private func run(_ arguments: String...) throws -> String {
        try run(arguments)
    }

    @discardableResult
    private func run(_ arguments: [String]) throws -> String {
        let environment = ["-u", "NO_COLOR", "LC_ALL=C.UTF-8", "TERM=xterm-256color"]
        let words = ["env"] + environment + ["tmux", "-u", "-L", socket] + arguments
        let result = try runProgram(words)
        guard result.status == 0 else {
            let command = arguments.joined(separator: " ")
            throw ProgramFailure(description: "`tmux \(command)` ended with \(result.status): \(result.output)")
        }
        return result.output
    }
}
#endif
