// SPDX-License-Identifier: MIT

import CTestSupport
import Testing

/// `TransportConfiguration.addressPolicy`: a refused address gets no connection, however it came about.
@Suite(.timeLimit(.minutes(1)))
struct AddressGuardTests {
    private let guarded = CurlTransport(configuration: TransportConfiguration(addressPolicy: .publicOnly))

    private func server() throws -> MockServer {
        let server = try MockServer.always(.text("secret"))
        return server
    }

    private func expectRefused(_ url: String, by transport: CurlTransport) async throws {
        let error = try await #require(throws: NetworkError.self) { try await transport.exchange(.get, url) }
        #expect(error.reason == .refused(by: .addressPolicy), "\(url): \(error)")
        #expect(error.detail.contains("addressPolicy"))
        #expect(error.hint?.contains("allowing") == true)
        #expect(!error.isRetryable)
        expectTexts(error)
    }

    @Test(
        "This machine is refused in every spelling",
        arguments: [
            "127.0.0.1", "localhost", "[::1]", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0",
            "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "guarded.here.test", "guarded.dual.test",
        ])
    func spellings(host: String) async throws {
        let server = try server()
        try await expectRefused("http://\(host):\(server.port)/", by: guarded)
        #expect(server.connectionCount == 0)
    }

    @Test("A named address is used, and of a host with several the allowed ones")
    func named() async throws {
        let server = try server()
        let policy = TransportConfiguration.AddressPolicy.publicOnly.allowing("127.0.0.1")
        let transport = CurlTransport(configuration: TransportConfiguration(addressPolicy: policy))
        for host in ["127.0.0.1", "named.here.test", "named.dual.test"] {
            #expect(try await transport.exchange(.get, "http://\(host):\(server.port)/").text() == "secret")
        }
        try await expectRefused("http://[::1]:\(server.port)/", by: transport)
    }

    @Test("A resolver that changes its response between check and connect does not get through")
    func changingAnswer() async throws {
        let server = try server()
        let name = "rebinding.turns.test"
        // An app that decides receives only addresses that are allowed.
        #expect(Self.lookup(name) == "127.0.0.2")
        let policy = TransportConfiguration.AddressPolicy.everything.refusing("127.0.0.1")
        let dns = TransportConfiguration.DNS(cacheLifetime: .zero)
        let transport = CurlTransport(configuration: TransportConfiguration(dns: dns, addressPolicy: policy))
        try await expectRefused("http://\(name):\(server.port)/", by: transport)
        #expect(hanging_lookup_count(name) == 2)
        // Every second response is that of the server, whatever there was before.
        for round in 0..<20 {
            let end = await outcome(Task { try await transport.exchange(.get, "http://\(name):\(server.port)/") })
            #expect(end.reason == (round % 2 == 0 ? .unreachable : .refused(by: .addressPolicy)))
        }
        #expect(hanging_lookup_count(name) == 22)
        #expect(server.connectionCount == 0)
        // Without the policy it would be reached.
        let open = CurlTransport(configuration: TransportConfiguration(dns: dns))
        _ = Self.lookup(name)
        #expect(try await open.exchange(.get, "http://\(name):\(server.port)/").text() == "secret")
    }

    @Test("A redirect to this machine is refused, and is not tried again")
    func redirect() async throws {
        let inner = try server()
        let outer = try MockServer()
        let target = "http://localhost:\(inner.port)/"
        outer.on(.get, "/", respond: MockResponse(status: .found, headers: [.location: target]))
        let asked = Locked(0)
        let policy = TransportConfiguration.AddressPolicy.asking { _ in asked.next() == 1 }
        let transport = CurlTransport(configuration: TransportConfiguration(addressPolicy: policy))
        let client = APIClient.testing(transport, baseURL: BaseURL(stringLiteral: outer.url), pipeline: .standard)
        let error = await #expect(throws: NetworkError.self) { try await client.send(Request<Void>.get("/")) }
        #expect(error?.reason == .refused(by: .addressPolicy))
        #expect(error?.request?.url.contains("localhost") == true)
        #expect(inner.connectionCount == 0)
        #expect(outer.connectionCount == 1)
        #expect(error?.attempts.count ?? 0 <= 2)
    }

    @Test("An override is checked like any other address")
    func override() async throws {
        let server = try server()
        let dns = TransportConfiguration.DNS(overrides: [
            .init(host: "api.example", target: "127.0.0.1", targetPort: server.port)
        ])
        var configuration = TransportConfiguration(dns: dns, addressPolicy: .publicOnly)
        try await expectRefused("http://api.example/", by: CurlTransport(configuration: configuration))
        #expect(server.connectionCount == 0)
        configuration.addressPolicy = .publicOnly.allowing("127.0.0.0/8")
        #expect(
            try await CurlTransport(configuration: configuration).exchange(.get, "http://api.example/").status == .ok)
    }

    @Test("Connections are used again, and the policy is asked once for each")
    func reuse() async throws {
        let server = try server()
        let asked = Locked(0)
        let policy = TransportConfiguration.AddressPolicy.asking { address in
            _ = asked.next()
            return address.description == "127.0.0.1"
        }
        let transport = CurlTransport(configuration: TransportConfiguration(addressPolicy: policy))
        for _ in 0..<5 { _ = try await transport.exchange(.get, server.url + "/").text() }
        #expect(asked.next() == 2)
        #expect(server.connectionCount == 1)
    }

    @Test("Through a proxy or a socket, where no address is seen, nothing is sent")
    func unseen() async throws {
        let server = try server()
        let proxy = TransportConfiguration.Proxy.fixed(
            TransportConfiguration.Proxy.Server(.http, host: "127.0.0.1", port: server.port))
        for configuration in [
            TransportConfiguration(proxy: proxy, addressPolicy: .publicOnly),
            TransportConfiguration(unixSocket: "socket", addressPolicy: .publicOnly),
        ] {
            let transport = CurlTransport(configuration: configuration)
            let error = try #require(await transport.failure(.get, server.url + "/"))
            #expect(error.reason == .configuration)
            #expect(error.detail.contains("addressPolicy"))
        }
        #expect(server.connectionCount == 0)
    }

    /// The first address of a name, as an app would ask for it.
    private static func lookup(_ name: String) -> String? {
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(name, nil, nil, &list) == 0, let first = list?.pointee.ai_addr else { return nil }
        defer { freeaddrinfo(list) }
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        guard getnameinfo(first, size, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0 else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
