// SPDX-License-Identifier: MIT

import Foundation

/// A WebSocket server that is not ours: `websockets` of Python. It ends with this object, or with the process.
package final class WebSocketServer: Sendable {
    package let port: Int
    private let process: CompanionProcess

    /// Returns when it listens. Throws `Program.Failure` if its package is missing.
    package static func start() async throws -> WebSocketServer {
        try await onThread { try WebSocketServer() }
    }

    private init() throws {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("websocketserver.py")
        process = try CompanionProcess(Program.python(), [script.path])
        let line = process.readLine()
        guard let port = Int(line) else {
            throw Program.Failure(
                description: "websocketserver.py did not start (Scripts/setup installs python3-websockets): \(line)")
        }
        self.port = port
    }
}
