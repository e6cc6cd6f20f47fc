// SPDX-License-Identifier: MIT

import Foundation

/// A tus server of another project. It ends with this object, or with the process.
final class TusServer: Sendable {
    let port: Int
    let folder: TemporaryFolder
    private let process: CompanionProcess

    /// Returns when it listens. Throws `Program.Failure` if its packages are missing.
    static func start() async throws -> TusServer { try await onThread { try TusServer() } }

    private init() throws {
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<5 { root.deleteLastPathComponent() }
        let script = root.appendingPathComponent("Tests/TestServers/tusserver.py").path
        folder = try TemporaryFolder()
        process = try CompanionProcess(Program.python(), [script, folder.path])
        let line = process.readLine()
        guard let port = Int(line) else {
            throw Program.Failure(
                description: "tusserver.py did not start (Scripts/setup installs its packages): \(line)")
        }
        self.port = port
    }
}

/// A server with TLS by openssl, whose certificate is its own authority, for 127.0.0.1.
final class SecureServer: Sendable {
    let url: String
    /// The file with the authority.
    let authority: String
    private let folder: TemporaryFolder
    private let process: CompanionProcess

    /// - `name`: the name in the certificate.
    static func start(for name: String = "IP:127.0.0.1") async throws -> SecureServer {
        try await onThread { try SecureServer(name) }
    }

    private init(_ name: String) throws {
        let openssl = try Program.path("openssl")
        folder = try TemporaryFolder()
        authority = folder.path + "/cert.pem"
        try Program.run(
            openssl,
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                "/CN=test", "-addext", "subjectAltName=\(name)", "-keyout", "key.pem", "-out", "cert.pem",
            ], in: folder.path)
        process = try CompanionProcess(
            openssl, ["s_server", "-accept", "127.0.0.1:0", "-cert", "cert.pem", "-key", "key.pem", "-www"],
            in: folder.path)
        var line = process.readLine()
        while !line.isEmpty, !line.hasPrefix("ACCEPT") { line = process.readLine() }
        guard let port = line.split(separator: ":").last.flatMap({ Int($0) }) else {
            throw Program.Failure(description: "openssl s_server did not start: \(line)")
        }
        url = "https://127.0.0.1:\(port)/"
    }

    deinit {
        process.kill()
        _ = process.finish()
    }
}
