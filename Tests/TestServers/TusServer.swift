// SPDX-License-Identifier: MIT

import CurlewCore
import Foundation

/// A tus server that is not ours: `tuspyserver` of Python. It ends with this object, or with the process.
package final class TusServer: Sendable {
    package let port: Int
    package let folder: TemporaryFolder
    private let process: CompanionProcess

    /// Returns when it listens. Throws `Program.Failure` if its packages are missing.
    package static func start() async throws -> TusServer {
        try await onThread { try TusServer() }
    }

    private init() throws {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("tusserver.py")
        folder = try TemporaryFolder()
        process = try CompanionProcess(Program.python(), [script.path, folder.path])
        let line = process.readLine()
        guard let port = Int(line) else {
            throw Program.Failure(
                description: "tusserver.py did not start (Scripts/setup installs tuspyserver and uvicorn): \(line)")
        }
        self.port = port
    }

    /// The path of an upload with this URL.
    package func path(of url: String?) -> String {
        folder.path + "/" + (url?.split(separator: "/").last.map(String.init) ?? "")
    }
}
