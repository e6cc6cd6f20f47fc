// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore

/// What an error says of the certificates that a server presented.
@Suite(.timeLimit(.minutes(1)), .usesKnownOpenSSL)
struct CertificateErrorTests {
    private func failure(_ transport: CurlTransport, _ url: String) async throws -> NetworkError {
        let error = try #require(await transport.failure(.get, url))
        expectTexts(error)
        for certificate in error.certificates {
            #expect(error.description.contains("  server    \(certificate)\n"))
            #expect(!error.message.contains(certificate.subject))
        }
        return error
    }

    @Test(
        "An untrusted certificate is shown: subject, hosts, issuer, validity, and its pin",
        arguments: [
            (.expired, .expired, "localhost"), (.notYetValid, .notYetValid, "localhost"),
            (.wrongHost, .wrongHost, "other.example"), (.selfSigned, .untrusted, "localhost"),
        ] as [(Certificates.Kind, NetworkError.TLSFailure, String)])
    func refused(kind: Certificates.Kind, failure: NetworkError.TLSFailure, name: String) async throws {
        let nginx = try await Nginx.shared()
        let transport = CurlTransport(configuration: nginx.configuration)
        for _ in 0..<2 {
            let error = try await self.failure(transport, nginx.secure(kind) + "/empty")
            #expect(error.reason == .secureConnectionFailed(failure))
            let file = try Data(contentsOf: URL(fileURLWithPath: nginx.certificates.certificate(kind)))
            let expected = try #require(ExchangeMetrics.Connection.PeerCertificate(file))
            #expect(error.certificates == [expected])
            #expect(expected.subject == "CN=\(kind)")
            #expect(expected.issuer == (kind == .selfSigned ? "CN=selfSigned" : "CN=Authority"))
            #expect(expected.names.first == name)
            #expect(expected.pin == TransportConfiguration.TLS.PinSet.key(ofCertificate: file))
            let (start, end) = (try #require(expected.notBefore), try #require(expected.notAfter))
            #expect(start < end)
            #expect((end < Date()) == (kind == .expired))
            #expect((start > Date()) == (kind == .notYetValid))
            // What follows over the same handle has nothing of it.
            let gone = try #require(await transport.failure(.get, "https://localhost:1/"))
            #expect(gone.certificates.isEmpty)
        }
    }

    @Test("The whole chain is shown, in the server's order, and ten certificates at most")
    func chain() async throws {
        let paths = try await onThread {
            let paths = try CertificatePaths()
            try paths.makeRoot("root")
            try paths.makeAuthority("between", by: "root")
            try paths.makeServer("server", by: "between", end: "20190201000000Z")
            return paths
        }
        let short = try await ChainServer.start(chain: paths.file("server", "between"), key: paths.key("server"))
        let tls = TransportConfiguration.TLS(trustedRoots: try paths.roots("root"))
        let transport = CurlTransport(configuration: TransportConfiguration(tls: tls))
        let error = try await failure(transport, short.url())
        #expect(error.reason == .secureConnectionFailed(.expired))
        #expect(error.certificates.map(\.subject) == ["CN=server", "CN=between"])
        #expect(error.certificates.map(\.issuer) == ["CN=between", "CN=root"])
        #expect(try error.certificates.map(\.pin) == ["server", "between"].map(paths.pin))
        #expect(error.description.contains("to 2019-02-01T00:00:00Z"))

        let file = try paths.file(
            "server", "between", "root", "root", "root", "root", "root", "root", "root", "root", "root", "root")
        let long = try await ChainServer.start(chain: file, key: paths.key("server"))
        let many = try await failure(transport, long.url())
        #expect(many.certificates.count == 10)
        #expect(many.certificates.last?.subject == "CN=root")
    }

    @Test("Pins of both scopes show what the server presented", arguments: [false, true])
    func pins(ofPath: Bool) async throws {
        let nginx = try await Nginx.shared()
        var configuration = nginx.configuration
        configuration.tls.pins = [
            TransportConfiguration.TLS.PinSet(
                hosts: ["localhost"], keys: PinningTests.others, scope: ofPath ? .verifiedChain : .serverCertificate)
        ]
        let transport = CurlTransport(configuration: configuration)
        for _ in 0..<2 {
            let error = try await failure(transport, nginx.secure() + "/empty")
            #expect(error.reason == .secureConnectionFailed(.pinMismatch))
            #expect(error.certificates.map(\.subject) == ["CN=valid"])
            #expect(error.detail.contains(try #require(error.certificates.first).pin))
        }
    }

    @Test("Failures that are not about the server's certificate show none")
    func others() async throws {
        let nginx = try await Nginx.shared()
        let server = try await PythonTLSServer.start(nginx.certificates, asksForCertificates: true)
        let transport = CurlTransport(configuration: nginx.configuration)
        let demanded = try await failure(transport, server.url)
        #expect(demanded.certificates.isEmpty)
        let plain = try #require(
            await transport.failure(.get, nginx.plain.replacingOccurrences(of: "http:", with: "https:")))
        #expect(plain.reason == .secureConnectionFailed(.handshake))
        #expect(plain.certificates.isEmpty)
    }

    @Test("Text in a certificate cannot begin a line, turn the writing direction, or be unbounded")
    func hostile() async throws {
        let name = "evil\n  next      do as I say\u{1B}[31m\u{202E}txt.exe,O=Bank" + String(repeating: "x", count: 10)
        let paths = try await onThread {
            let paths = try CertificatePaths()
            try paths.makeRoot("root")
            try paths.makeStranger("stranger", commonName: name)
            return paths
        }
        let server = try await ChainServer.start(chain: paths.file("stranger"), key: paths.key("stranger"))
        let tls = TransportConfiguration.TLS(trustedRoots: try paths.roots("root"))
        let transport = CurlTransport(configuration: TransportConfiguration(tls: tls))
        let error = try await failure(transport, server.url())
        let certificate = try #require(error.certificates.first)
        #expect(certificate.subject.hasPrefix("CN=evil\\n"))
        #expect(certificate.subject.contains("txt.exe\\,O\\=Bank"))
        for text in [error.description, certificate.subject, certificate.issuer] {
            #expect(!text.contains("\u{1B}") && !text.contains("\u{202E}"))
            #expect(!text.contains("\n  next      do as"))
        }
    }
}
