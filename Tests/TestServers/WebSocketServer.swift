// SPDX-License-Identifier: MIT

import Foundation

/// A WebSocket server that is not ours. It ends with this object, or with the process.
package final class WebSocketServer: Sendable {
    package enum Kind: String, CaseIterable, Sendable {
        /// `websockets` of Python.
        case websockets
        /// `wsproto` of Python.
        case wsproto
        /// `ws` of Node.
        case node

        fileprivate var script: String {
            switch self {
            case .websockets: "websocketserver.py"
            case .wsproto: "wsprotoserver.py"
            case .node: "websocketserver.mjs"
            }
        }

        fileprivate var package: String {
            switch self {
            case .websockets: "python3-websockets"
            case .wsproto: "python3-wsproto"
            case .node: "nodejs and node-ws"
            }
        }
    }

    package let port: Int
    package var url: String { "http://127.0.0.1:\(port)" }
    private let process: CompanionProcess

    /// Returns when it listens. Throws `Program.Failure` if its package is missing.
    package static func start(_ kind: Kind = .websockets) async throws -> WebSocketServer {
        try await onThread { try WebSocketServer(kind) }
    }

    private init(_ kind: Kind) throws {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(kind.script)
        process = try CompanionProcess(kind == .node ? Program.path("node") : Program.python(), [script.path])
        let line = process.readLine()
        guard let port = Int(line) else {
            throw Program.Failure(
                description: "\(kind.script) did not start (Scripts/setup installs \(kind.package)): \(line)")
        }
        self.port = port
    }
}
