// SPDX-License-Identifier: MIT

import Testing

/// Where connections go.
@Suite(.timeLimit(.minutes(1)))
struct ConnectionPlaceTests {
    @Test("An override changes the address of a request, and nothing else")
    func override() async throws {
        let nginx = try await Nginx.shared()
        let port = try #require(try HTTPRequest(.get, url: nginx.secure() + "/").origin.port as Int?)
        var configuration = nginx.configuration
        configuration.dns.overrides = [
            .init(host: "localhost", port: 443, target: "127.0.0.1", targetPort: port),
            .init(host: "other.example", target: "127.0.0.1", targetPort: port),
        ]
        let transport = CurlTransport(configuration: configuration)
        #expect(try await transport.exchange(.get, "https://localhost/host").text() == "localhost")
        // The certificate has to be that of the URL's host.
        let error = try #require(await transport.failure(.get, "https://other.example/host"))
        #expect(error.reason == .secureConnectionFailed(.wrongHost))
        // Another port has no override.
        let (socket, refusing) = try LoopbackPort.refusing()
        defer { close(socket) }
        let other = await outcome(Task { try await transport.exchange(.get, "https://localhost:\(refusing)/") })
        #expect(other.reason == .unreachable)
    }

    @Test("An option that the transport refuses is named")
    func refusedOption() async throws {
        // libcurl takes no text of more than 8 MB.
        let identity = TransportConfiguration.TLS.ClientIdentity.pkcs12File(
            "client.p12", passphrase: String(repeating: "a", count: 8_000_001))
        let tls = TransportConfiguration.TLS(identity: identity)
        let transport = CurlTransport(configuration: TransportConfiguration(tls: tls))
        for _ in 0..<2 {
            let error = try #require(await transport.failure(.get, "https://localhost/"))
            #expect(error.reason == .configuration)
            #expect(error.detail.contains("CURLOPT_KEYPASSWD"))
            expectTexts(error)
        }
    }

    @Test("Addresses of one kind only are used on request")
    func addresses() async throws {
        let server = try MockServer.always(.text("hello"))
        let url = "http://localhost:\(server.port)/"
        let four = CurlTransport(
            configuration: TransportConfiguration(dns: TransportConfiguration.DNS(addresses: .ipv4)))
        #expect(try await four.exchange(.get, url).text() == "hello")
        let six = CurlTransport(
            configuration: TransportConfiguration(dns: TransportConfiguration.DNS(addresses: .ipv6)))
        let result = await outcome(Task { try await six.exchange(.get, url) })
        #expect(result.reason == .unreachable)
    }
}

/// How many connections there are, and how long.
@Suite(.timeLimit(.minutes(1)))
struct ConnectionPoolTests {
    @Test("A connection older than its lifetime is not used again")
    func lifetime() async throws {
        let server = try MockServer.always(.text("hello"))
        let pool = TransportConfiguration.Pool(lifetime: .seconds(1))
        let transport = CurlTransport(configuration: TransportConfiguration(pool: pool))
        let begin = ContinuousClock.now
        // Never idle: only its age ends the connection.
        while server.connectionCount < 2 {
            _ = try await transport.exchange(.get, server.url + "/")
            try #require(ContinuousClock.now - begin < .seconds(20))
        }
        #expect(ContinuousClock.now - begin >= .seconds(1))
    }

    @Test("Requests do not wait for each other's connection when that is disabled")
    func noMultiplexing() async throws {
        // The handshake receives no answer, so the protocol of the first connection stays unknown.
        let server = try RawServer { $0.waitUntilClosed() }
        let pool = TransportConfiguration.Pool(waitsForMultiplexing: false)
        let transport = CurlTransport(configuration: TransportConfiguration(pool: pool))
        let tasks = (0..<3).map { _ in
            Task { try await transport.exchange(.get, "https://127.0.0.1:\(server.port)/", timeouts: .none) }
        }
        #expect(await eventually { server.connectionCount == 3 })
        for task in tasks {
            task.cancel()
            #expect(await outcome(task).reason == .cancelled)
        }
    }

    @Test(
        "Extreme values of the options work",
        arguments: [Duration.zero, .nanoseconds(1), .seconds(1 << 40), .seconds(-1)])
    func extremes(time: Duration) async throws {
        let server = try MockServer.always(.text("hello"))
        let pool = TransportConfiguration.Pool(
            perHost: .max, total: .max, idle: 1, idleLifetime: time, lifetime: time, keepAlive: time)
        let dns = TransportConfiguration.DNS(cacheLifetime: time, happyEyeballsDelay: time)
        let transport = CurlTransport(configuration: TransportConfiguration(pool: pool, dns: dns))
        for _ in 0..<3 {
            let url = "http://localhost:\(server.port)/"
            #expect(try await transport.exchange(.get, url).text() == "hello")
        }
    }

    @Test("Connections in use do not count as idle ones")
    func manyConnections() async throws {
        let pool = TransportConfiguration.Pool(perHost: 48, idle: 4)
        let transport = CurlTransport(configuration: TransportConfiguration(pool: pool))
        let server = try MockServer.always(.text("ok"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<48 {
                group.addTask {
                    for _ in 0..<20 { _ = try await transport.exchange(.get, server.url + "/").text() }
                }
            }
            try await group.waitForAll()
        }
        #expect(server.connectionCount <= 48)
    }
}
