// SPDX-License-Identifier: MIT

import Testing

/// Whom the transport trusts, against a real server.
@Suite(.timeLimit(.minutes(1)))
struct TLSTests {
    @Test("A TLS failure has this connection's reason, whatever the handle met before")
    func recycledHandle() async throws {
        let nginx = try await Nginx.shared()
        let transport = CurlTransport(configuration: nginx.configuration)
        let kinds: [(Certificates.Kind, NetworkError.TLSFailure?)] = [
            (.expired, .expired), (.wrongHost, .wrongHost), (.selfSigned, .untrusted), (.wrongHost, .wrongHost),
            (.valid, nil), (.notYetValid, .notYetValid), (.wrongHost, .wrongHost),
        ]
        for (kind, failure) in kinds {
            let result = await outcome(
                Task { try await transport.exchange(.get, nginx.secure(kind) + "/empty") })
            #expect(result.reason == failure.map { .secureConnectionFailed($0) }, "\(kind)")
        }
    }

    @Test(
        "A file of authorities that cannot be used is a configuration error",
        arguments: ["missing", "garbage", "folder", "text"])
    func badRoots(kind: String) async throws {
        let nginx = try await Nginx.shared()
        let folder = try TemporaryFolder()
        var path = folder.path + "/missing.crt"
        if kind == "garbage" { path = try folder.file("garbage.crt", "not a certificate") }
        if kind == "folder" { path = folder.path }
        let tls = TransportConfiguration.TLS(trustedRoots: kind == "text" ? .pem(Data("nothing".utf8)) : .file(path))
        let transport = CurlTransport(configuration: TransportConfiguration(tls: tls))
        let error = try #require(await transport.failure(.get, nginx.secure() + "/empty"))
        #expect(error.reason == .configuration)
        if kind != "text" {
            #expect(error.description.contains(path))
            #expect(error.hint?.contains("trustedRoots") == true)
        }
        expectTexts(error)
        // What needs no authorities works.
        #expect(try await transport.exchange(.get, nginx.plain + "/empty").status == .noContent)
    }

    @Test("A secure connection is used again, and costs its handshake once")
    func reuse() async throws {
        let nginx = try await Nginx.shared()
        var configuration = nginx.configuration
        configuration.httpVersions = .http1Only
        let transport = CurlTransport(configuration: configuration)
        var connections: Set<Substring> = []
        for index in 0..<3 {
            let response = try await transport.exchange(.get, nginx.secure() + "/connection")
            #expect(response.version == .http1_1)
            #expect(response.metrics.reusedConnection == (index > 0))
            #expect((response.metrics.secureConnect == .zero) == (index > 0))
            connections.insert(try await response.text().split(separator: " ")[0])
        }
        #expect(connections.count == 1)
    }
}
