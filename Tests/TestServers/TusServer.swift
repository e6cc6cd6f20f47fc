// SPDX-License-Identifier: MIT

import CurlewCore
import Foundation

/// A tus server that is not ours. It ends with this object, or with the process.
package final class TusServer: Sendable {
    /// A Python package with a server.
    package enum Kind: Sendable {
        /// `tuspyserver`: core, creation, termination.
        case small
        /// `resumable-upload`: every extension.
        ///
        /// - `seconds`: the time before an upload expires.
        case full(seconds: Int)

        var arguments: [String] {
            switch self {
            case .small: ["tusserver.py"]
            case .full(let seconds): ["fulltusserver.py", "\(seconds)"]
            }
        }
    }

    package let port: Int
    package let folder: TemporaryFolder
    private let process: CompanionProcess

    /// Returns when it listens. Throws `Program.Failure` if its packages are missing.
    package static func start(_ kind: Kind = .small) async throws -> TusServer {
        try await onThread { try TusServer(kind) }
    }

    private init(_ kind: Kind) throws {
        let name = kind.arguments[0]
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(name)
        folder = try TemporaryFolder()
        process = try CompanionProcess(Program.python(), [script.path, folder.path] + kind.arguments.dropFirst())
        let line = process.readLine()
        guard let port = Int(line) else {
            throw Program.Failure(
                description: "\(name) did not start (Scripts/setup installs its packages): \(line)")
        }
        self.port = port
    }

    /// The path of an upload with this URL.
    package func path(of url: String?) -> String {
        folder.path + "/" + (url?.split(separator: "/").last.map(String.init) ?? "")
    }
}
