// SPDX-License-Identifier: MIT

import Foundation

/// The scripted HTTP/2 server `h2server.py`: it ends when its input does, with this object or with the process.
final class H2Server: Sendable {
    let url: String
    private let input: Pipe

    init(_ certificates: Certificates) throws {
        let process = Process()
        let output = Pipe()
        input = Pipe()
        process.executableURL = URL(fileURLWithPath: try Program.python())
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("h2server.py")
        process.arguments = [script.path, certificates.certificate(.valid), certificates.key]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let port = Int(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw Program.Failure(description: "h2server.py did not start; Scripts/setup installs python3-h2.")
        }
        url = "https://127.0.0.1:\(port)"
    }

    deinit {
        try? input.fileHandleForWriting.close()
    }
}
