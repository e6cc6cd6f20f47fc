// SPDX-License-Identifier: MIT

import Testing

/// Pins of authorities, against real chains: what counts is the path that OpenSSL verifies, not what a server presents.
@Suite(.timeLimit(.minutes(1)), .usesKnownOpenSSL)
struct PathPinningTests {
    private static let spare = PinningTests.others[0]
    private static let versions = ["TLSv1_2", "TLSv1_3"]

    private func transport(
        _ roots: TransportConfiguration.TLS.TrustedRoots, pins: [String], hosts: [String] = ["localhost"],
        expires: Date? = nil, mode: TransportConfiguration.TLS.PinSet.Mode = .enforce,
        proxy: TransportConfiguration.Proxy = .none
    ) -> CurlTransport {
        let set = TransportConfiguration.TLS.PinSet(
            hosts: hosts, keys: pins + [Self.spare, PinningTests.others[1]], scope: .verifiedChain, expires: expires,
            mode: mode)
        let tls = TransportConfiguration.TLS(trustedRoots: roots, pins: [set])
        return CurlTransport(configuration: TransportConfiguration(tls: tls, proxy: proxy))
    }

    private func expectRefusal(
        _ transport: CurlTransport, _ url: String, found: [String], sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        let result = await outcome(Task { try await transport.exchange(.get, url) })
        guard case .failure(let error) = result else {
            Issue.record("the server was reached", sourceLocation: sourceLocation)
            return
        }
        #expect(error.reason == .secureConnectionFailed(.pinMismatch), "\(error)", sourceLocation: sourceLocation)
        #expect(!error.isRetryable, sourceLocation: sourceLocation)
        #expect(error.detail.contains(found.joined(separator: ", ")), "\(error)", sourceLocation: sourceLocation)
        #expect(error.underlying is NetworkError.TransportFailure, sourceLocation: sourceLocation)
        #expect(!error.certificates.isEmpty, sourceLocation: sourceLocation)
        expectTexts(error, sourceLocation: sourceLocation)
    }

    /// `server` signed by `between`, signed by `root`; beside it `other`, an authority of the same root, and its
    /// `victim`.
    private func makePaths() async throws -> CertificatePaths {
        try await onThread {
            let paths = try CertificatePaths()
            try paths.makeRoot("root")
            try paths.makeAuthority("between", by: "root")
            try paths.makeAuthority("other", by: "root")
            try paths.makeServer("server", by: "between")
            return paths
        }
    }

    private func start(_ paths: CertificatePaths, _ version: String = "") async throws -> ChainServer {
        let chain = try paths.file("server", "between")
        return try await ChainServer.start(chain: chain, key: paths.key("server"), version: version)
    }

    @Test(
        "The pin of any certificate on the path admits the server, over every version of TLS",
        arguments: ["server", "between", "root"], versions)
    func match(pinned: String, version: String) async throws {
        let paths = try await makePaths()
        let server = try await start(paths, version)
        let transport = try transport(paths.roots("root"), pins: [paths.pin(pinned)])
        for _ in 0..<3 { #expect(try await transport.exchange(.get, server.url()).text().hasSuffix("full")) }
    }

    @Test("A server of another authority of the same root is refused, with the keys of its path")
    func otherAuthority() async throws {
        let paths = try await makePaths()
        let server = try await start(paths)
        let transport = try transport(paths.roots("root"), pins: [paths.pin("other")])
        let found = try ["server", "between", "root"].map(paths.pin)
        for _ in 0..<2 { await expectRefusal(transport, server.url(), found: found) }
        // The set is for another host only.
        #expect(try await transport.exchange(.get, server.url(host: "127.0.0.1")).status == .ok)
    }

    @Test(
        "A pinned authority that is only presented, and signed nothing, is not accepted",
        arguments: [["between", "other"], ["other", "between"], ["between", "foreign"]])
    func presented(chain: [String]) async throws {
        let paths = try await makePaths()
        try await onThread { try paths.makeRoot("foreign") }
        let file = try paths.file("server", chain[0], chain[1])
        let server = try await ChainServer.start(chain: file, key: paths.key("server"))
        let pins = try ["other", "foreign"].map(paths.pin)
        let found = try ["server", "between", "root"].map(paths.pin)
        // The foreign root may even be one that the client trusts.
        for roots in [try paths.roots("root"), try paths.roots("root", "foreign")] {
            await expectRefusal(transport(roots, pins: pins), server.url(), found: found)
        }
    }

    @Test("Of a cross-signed authority the path counts that leads to a trusted root")
    func crossSigned() async throws {
        let paths = try await onThread {
            let paths = try CertificatePaths()
            try paths.makeRoot("old")
            try paths.makeRoot("new")
            try paths.makeAuthority("new-by-old", by: "old", key: "new")
            try paths.makeServer("server", by: "new")
            return paths
        }
        let server = try await ChainServer.start(chain: paths.file("server", "new-by-old"), key: paths.key("server"))
        let (old, new) = (try paths.pin("old"), try paths.pin("new"))
        #expect(try paths.pin("new-by-old") == new)
        for pin in [old, new] {
            let transport = try transport(paths.roots("old"), pins: [pin])
            #expect(try await transport.exchange(.get, server.url()).status == .ok)
        }
        let modern = try transport(paths.roots("new"), pins: [new])
        #expect(try await modern.exchange(.get, server.url()).status == .ok)
        // Its path is the server's certificate and the new root, whatever else comes along.
        let found = [try paths.pin("server"), new]
        await expectRefusal(try transport(paths.roots("new"), pins: [old]), server.url(), found: found)
    }

    @Test("A trusted certificate that has signed itself is the whole path")
    func selfSigned() async throws {
        let nginx = try await Nginx.shared()
        let certificate = try Data(contentsOf: URL(fileURLWithPath: nginx.certificates.certificate(.selfSigned)))
        let pin = try #require(TransportConfiguration.TLS.PinSet.key(ofCertificate: certificate))
        let url = nginx.secure(.selfSigned) + "/empty"
        #expect(try await transport(.pem(certificate), pins: [pin]).exchange(.get, url).status == .noContent)
        await expectRefusal(transport(.pem(certificate), pins: []), url, found: [pin])
    }

    @Test("A pin on the path does not replace trust, a valid time, or the right host")
    func trust() async throws {
        let nginx = try await Nginx.shared()
        let authority = try Data(contentsOf: URL(fileURLWithPath: nginx.certificates.authority))
        let pin = try #require(TransportConfiguration.TLS.PinSet.key(ofCertificate: authority))
        let pinned = transport(.pem(authority), pins: [pin])
        let cases: [(Certificates.Kind, NetworkError.TLSFailure?)] = [
            (.valid, nil), (.expired, .expired), (.wrongHost, .wrongHost), (.selfSigned, .untrusted), (.valid, nil),
        ]
        for (kind, failure) in cases {
            let result = await outcome(Task { try await pinned.exchange(.get, nginx.secure(kind) + "/empty") })
            #expect(result.reason == failure.map { .secureConnectionFailed($0) }, "\(kind)")
        }
        let stranger = try await makePaths().roots("root")
        let result = await outcome(
            Task { try await transport(stranger, pins: [pin]).exchange(.get, nginx.secure() + "/empty") })
        #expect(result.reason == .secureConnectionFailed(.untrusted))
    }

    @Test("Pins of other hosts change nothing: sessions are resumed there", arguments: versions)
    func resumption(version: String) async throws {
        let paths = try await makePaths()
        let server = try await start(paths, version)
        let transport = try transport(paths.roots("root"), pins: [paths.pin("between")], hosts: ["127.0.0.1"])
        var answers: [String] = []
        for _ in 0..<2 { answers.append(try await transport.exchange(.get, server.url()).text()) }
        #expect(answers.map { $0.split(separator: " ").last } == ["full", "resumed"])
        // Over the same handle.
        for _ in 0..<2 {
            let answer = try await transport.exchange(.get, server.url(host: "127.0.0.1")).text()
            #expect(answer.hasSuffix("full"))
        }
        #expect(try await transport.exchange(.get, server.url()).text().hasSuffix("resumed"))
    }

    @Test(
        "No connection or session from a time without enforcement serves a later one with it",
        arguments: versions)
    func enforcement(version: String) async throws {
        let paths = try await makePaths()
        let server = try await start(paths, version)
        let nginx = try await Nginx.shared()
        let authority = try String(contentsOfFile: nginx.certificates.authority, encoding: .utf8)
        guard case .pem(let root) = try paths.roots("root") else { return }
        let clock = ManualClock()
        let expires = clock.date.addingTimeInterval(PinningTests.day)
        let transport = transport(.pem(root + Data(authority.utf8)), pins: [], expires: expires)
        let later = ManualClock(date: expires.addingTimeInterval(1))
        for url in [server.url(), nginx.secure() + "/empty", nginx.serial + "/empty"] {
            let request = try HTTPRequest(.get, url: url)
            var answer = ""
            for _ in 0..<2 { answer = try await transport.send(request, in: ExchangeContext(time: later)).text() }
            #expect(answer.isEmpty || answer.hasSuffix("resumed"))
            let result = await outcome(Task { try await transport.send(request, in: ExchangeContext(time: clock)) })
            #expect(result.reason == .secureConnectionFailed(.pinMismatch), "\(url)")
        }
    }

    @Test("A connection that was admitted is used again")
    func reuse() async throws {
        let nginx = try await Nginx.shared()
        let authority = try Data(contentsOf: URL(fileURLWithPath: nginx.certificates.authority))
        let pin = try #require(TransportConfiguration.TLS.PinSet.key(ofCertificate: authority))
        let transport = transport(.pem(authority), pins: [pin])
        for url in [nginx.secure(), nginx.serial] {
            for index in 0..<3 {
                let response = try await transport.exchange(.get, url + "/empty")
                #expect(response.metrics.reusedConnection == (index > 0))
            }
            try await withThrowingTaskGroup(of: HTTPResponse.self) { group in
                for _ in 0..<20 { group.addTask { try await transport.exchange(.get, url + "/body.bin") } }
                for try await response in group { #expect(try await response.bytes().count == 3_000_000) }
            }
        }
    }

    @Test("A report-only set reports each new connection with all keys of its path", arguments: versions)
    func reportOnly(version: String) async throws {
        let paths = try await makePaths()
        let server = try await start(paths, version)
        let listener = PinningTests.listener()
        let silent = try transport(paths.roots("root"), pins: [paths.pin("between")], mode: .reportOnly)
        for _ in 0..<2 { _ = try await silent.exchange(.get, server.url(), observers: [listener]) }
        #expect(listener.entries.isEmpty)
        let loud = try transport(paths.roots("root"), pins: [], mode: .reportOnly)
        for _ in 0..<2 { _ = try await loud.exchange(.get, server.url(), observers: [listener]) }
        let found = try ["server", "between", "root"].map(paths.pin).joined(separator: ", ")
        let warning = ExchangeEvent.Warning.pinMismatch(host: "localhost", found: found)
        #expect(listener.entries == [warning, warning])
        // Over the same handle, but the server presents nothing.
        let nobody = Task { try await loud.exchange(.get, "https://localhost:1/", observers: [listener]) }
        #expect(await outcome(nobody).reason == .unreachable)
        #expect(listener.entries == [warning, warning])
    }

    @Test("A pattern of hosts holds for each host beneath the name")
    func wildcard() async throws {
        let paths = try await onThread {
            let paths = try CertificatePaths()
            try paths.makeRoot("root")
            try paths.makeAuthority("other", by: "root")
            try paths.makeServer("server", by: "root", names: "DNS:app.localhost,DNS:localhost")
            return paths
        }
        let server = try await ChainServer.start(chain: paths.file("server"), key: paths.key("server"))
        let right = try transport(paths.roots("root"), pins: [paths.pin("root")], hosts: ["*.localhost"])
        #expect(try await right.exchange(.get, server.url(host: "app.localhost")).status == .ok)
        let wrong = try transport(paths.roots("root"), pins: [paths.pin("other")], hosts: ["*.localhost"])
        let found = try ["server", "root"].map(paths.pin)
        await expectRefusal(wrong, server.url(host: "app.localhost"), found: found)
        #expect(try await wrong.exchange(.get, server.url()).status == .ok)
    }

    @Test("Pins are for the server, not for a proxy behind TLS, even if both have one name")
    func proxy() async throws {
        let paths = try await makePaths()
        try await onThread { try paths.makeServer("proxy", by: "other") }
        let server = try await start(paths)
        let certificate = try paths.file("proxy", "other")
        let proxy = try await onThread { try SecureProxy(certificate: certificate, key: paths.key("proxy")) }
        let address = TransportConfiguration.Proxy.Server(.https, host: "localhost", port: proxy.port)
        for (pin, isAdmitted) in [("between", true), ("other", false)] {
            let transport = try transport(
                paths.roots("root"), pins: [paths.pin(pin)], proxy: .fixed(address, bypassing: []))
            for _ in 0..<2 {
                let result = await outcome(Task { try await transport.exchange(.get, server.url(host: "localhost")) })
                #expect(result.reason == (isAdmitted ? nil : .secureConnectionFailed(.pinMismatch)), "\(result)")
            }
        }
    }

    @Test("One transport has a set of each scope, for hosts of its own")
    func scopes() async throws {
        let paths = try await makePaths()
        let server = try await start(paths)
        var tls = TransportConfiguration.TLS(trustedRoots: try paths.roots("root"))
        let keys = [try paths.pin("between"), Self.spare]
        tls.pins = [
            TransportConfiguration.TLS.PinSet(hosts: ["localhost"], keys: keys, scope: .verifiedChain),
            TransportConfiguration.TLS.PinSet(hosts: ["127.0.0.1"], keys: keys),
        ]
        let transport = CurlTransport(configuration: TransportConfiguration(tls: tls))
        for _ in 0..<2 {
            #expect(try await transport.exchange(.get, server.url()).status == .ok)
            // For the server's own certificate the pin of an authority is a wrong one.
            await expectRefusal(transport, server.url(host: "127.0.0.1"), found: [try paths.pin("server")])
        }
    }
}
