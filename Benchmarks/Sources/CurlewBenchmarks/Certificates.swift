// SPDX-License-Identifier: MIT

import Foundation

/// An authority of our own and the server's certificate, made by `openssl` in a folder.
struct Certificates {
    let folder: String
    var chain: String { folder + "/server.pem" }
    var key: String { folder + "/server.key" }
    /// The authority alone.
    var authority: String { folder + "/ca.pem" }
    /// The system's authorities and ours: every client carries the load of a real list.
    var roots: String { folder + "/roots.pem" }

    init(in folder: String) throws {
        self.folder = folder
        try openssl(
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.pem -days 30",
            "-subj /CN=CurlewBenchmarks -addext basicConstraints=critical,CA:TRUE")
        try openssl(
            "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout server.key -out server.csr",
            "-subj /CN=localhost")
        try Data("subjectAltName=DNS:localhost,IP:127.0.0.1\n".utf8)
            .write(to: URL(fileURLWithPath: folder + "/names.txt"))
        try openssl(
            "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out server.pem -days 30",
            "-extfile names.txt")
        let system = Self.systemRoots.first { FileManager.default.isReadableFile(atPath: $0) }
        var all = system.flatMap { FileManager.default.contents(atPath: $0) } ?? Data()
        all.append(try Data(contentsOf: URL(fileURLWithPath: authority)))
        try all.write(to: URL(fileURLWithPath: roots))
    }

    private static let systemRoots = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"]

    /// How the clients learn of the authorities: each reads one of these by itself.
    var environment: [String: String] {
        ["SSL_CERT_FILE": roots, "CURL_CA_BUNDLE": roots, "NODE_EXTRA_CA_CERTS": authority]
    }

    private func openssl(_ arguments: String...) throws {
        guard let program = Program.path("openssl") else { throw Failure("openssl is not installed") }
        _ = try Program.run(
            program, arguments.joined(separator: " ").split(separator: " ").map(String.init), in: folder, timeout: 30)
    }
}
