// SPDX-License-Identifier: MIT

import CurlewCore
import Foundation

/// A server that is a Python script of this folder: it prints its port, and ends at the end of its input. It ends with
/// this object, or with the process.
package final class ScriptServer: Sendable {
    package let port: Int
    private let process: CompanionProcess

    /// Returns when it listens. Throws `Program.Failure` if it cannot be started.
    package static func start(_ script: String, _ arguments: [String]) async throws -> ScriptServer {
        try await onThread { try ScriptServer(script, arguments) }
    }

    private init(_ script: String, _ arguments: [String]) throws {
        let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(script).path
        process = try CompanionProcess(Program.python(), [path] + arguments)
        let line = process.readLine()
        guard let port = Int(line) else { throw Program.Failure(description: "\(script) did not start: \(line)") }
        self.port = port
    }

    package var url: String { "http://127.0.0.1:\(port)" }
}
