// SPDX-License-Identifier: MIT

import Foundation

/// The scripted HTTP/2 server `h2server.py`: it ends with this object, or with the process.
package final class H2Server: Sendable {
    package let url: String
    private let process: CompanionProcess

    /// Blocks until it listens. With `isMixed`, every second connection speaks HTTP/1.1.
    package init(_ certificates: Certificates, isMixed: Bool = false) throws {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("h2server.py")
        process = try CompanionProcess(
            Program.python(),
            [script.path, certificates.certificate(.valid), certificates.key] + (isMixed ? ["mixed"] : []))
        let line = process.readLine()
        guard let port = Int(line) else {
            throw Program.Failure(description: "h2server.py did not start (Scripts/setup installs python3-h2): \(line)")
        }
        url = "https://127.0.0.1:\(port)"
    }
}
