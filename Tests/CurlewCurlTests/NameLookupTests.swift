// SPDX-License-Identifier: MIT

import CTestSupport
import Testing

/// How the transport looks up host names, and how calls end that wait for one.
@Suite(.timeLimit(.minutes(2)))
struct NameLookupTests {
    @Test("Calls to a name that hangs share one lookup, and each ends at its own limit")
    func shared() async throws {
        let name = "shared.hangs.test"
        let transport = CurlTransport()
        for round in 1...3 {
            let calls = (0..<40).map { _ in
                Task {
                    try await transport.exchange(
                        .get, "http://\(name)/", timeouts: Timeouts(connect: .milliseconds(200)))
                }
            }
            for call in calls { #expect(await outcome(call).reason == .timedOut(.connect)) }
            #expect(hanging_lookup_count(name) == 1, "round \(round)")
        }
        // When the lookup fails, the calls that wait for it fail, and the next call starts another one.
        let patient = Task { try await transport.exchange(.get, "http://\(name)/") }
        #expect(await eventually { transport.snapshot.active == 1 })
        hanging_lookup_release(name)
        let error = try #require(await #expect(throws: NetworkError.self) { try await patient.value })
        #expect(error.reason == .unreachable && error.detail.contains(name))
        // One or two: the patient call may have asked when the first lookup was over.
        let before = hanging_lookup_count(name)
        #expect(await transport.failure(.get, "http://\(name)/")?.reason == .unreachable)
        #expect(before <= 2 && hanging_lookup_count(name) == before + 1)
    }

    @Test("Concurrent calls share the result of a lookup, which is a part of their time")
    func together() async throws {
        let server = try MockServer.always(.text("ok"))
        let name = "together.here.test"
        let transport = CurlTransport(options: CurlTransport.Options(eventLoops: 1))
        let calls = (0..<40).map { _ in
            Task { try await transport.exchange(.get, "http://\(name):\(server.port)/") }
        }
        var lookups = 0
        for call in calls {
            let metrics = try await call.value.metrics
            let lookup = try #require(metrics.nameLookup)
            if lookup > .zero { lookups += 1 }
            #expect(try #require(metrics.total) >= lookup + #require(metrics.connect) + #require(metrics.firstByte))
        }
        #expect(lookups > 0 && hanging_lookup_count(name) == 1)
        #expect(try await transport.exchange(.get, "http://\(name):\(server.port)/").metrics.nameLookup == .zero)
    }

    @Test("A name is looked up as it is used: also as override, and with a trailing dot")
    func places() async throws {
        let server = try MockServer.always(.text("ok"))
        var configuration = TransportConfiguration()
        configuration.dns.overrides = [
            .init(host: "elsewhere.test", target: "target.here.test", targetPort: server.port)
        ]
        let transport = CurlTransport(
            configuration: configuration, options: CurlTransport.Options(eventLoops: 1))
        #expect(try await transport.exchange(.get, "http://elsewhere.test/").text() == "ok")
        #expect(hanging_lookup_count("target.here.test") == 1)
        #expect(try await transport.exchange(.get, "http://plain.here.test:\(server.port)/").text() == "ok")
        #expect(hanging_lookup_count("plain.here.test") == 1)
        var proxied = TransportConfiguration()
        proxied.proxy = .fixed(TransportConfiguration.Proxy.Server(.http, host: "proxy.here.test", port: server.port))
        server.on(.get, "/", respond: .text("by proxy"))
        _ = try? await CurlTransport(configuration: proxied).exchange(.get, "http://no-such-host.invalid/")
        #expect(hanging_lookup_count("proxy.here.test") == 1)
    }

    @Test(
        "A POST whose connection ended is not sent again because its name has to be looked up",
        arguments: [true, false])
    func notRepeated(hasBody: Bool) async throws {
        let posts = Locked(0)
        let server = try RawServer { connection in
            while true {
                let head = try connection.readHead()
                if head.hasPrefix("POST") {
                    posts.withLock { $0 += 1 }
                    return
                }
                try connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            }
        }
        // Nothing that was found is kept: another connection needs another lookup.
        var configuration = TransportConfiguration()
        configuration.dns.cacheLifetime = .zero
        let transport = CurlTransport(
            configuration: configuration, options: CurlTransport.Options(eventLoops: 1))
        let url = "http://repeated\(hasBody).here.test:\(server.port)/"
        #expect(try await transport.exchange(.get, url).text() == "ok")
        let error = await #expect(throws: NetworkError.self) {
            try await transport.exchange(.post, url, body: hasBody ? .bytes(Data("1".utf8)) : .empty)
        }
        #expect(error?.reason == .connectionLost(.requestMayHaveArrived))
        #expect(posts.withLock { $0 } == 1)
    }

    @Test("A lookup beside a long response of the same origin ends at the connect timeout")
    func besideStream() async throws {
        let server = try RawServer { connection in
            _ = try connection.readHead()
            try connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst")
            connection.waitUntilClosed()
        }
        var configuration = TransportConfiguration()
        configuration.dns.cacheLifetime = .zero
        let transport = CurlTransport(
            configuration: configuration, options: CurlTransport.Options(eventLoops: 1))
        let name = "beside.once.test"
        let url = "http://\(name):\(server.port)/"
        let long = try await transport.exchange(.get, url) { $0.streaming = true }
        let error = await #expect(throws: NetworkError.self) {
            try await transport.exchange(
                .get, url, timeouts: Timeouts(connect: .milliseconds(200), firstByte: .seconds(30)))
        }
        #expect(error?.reason == .timedOut(.connect))
        long.body.cancel()
        hanging_lookup_release(name)
    }

    @Test("Addresses of one interface are left out; a name without others is left to libcurl")
    func zones() async throws {
        let server = try MockServer.always(.text("ok"))
        #expect(try await CurlTransport().exchange(.get, "http://mixed.zone.test:\(server.port)/").text() == "ok")
        // Nothing listens there: what counts is that libcurl has an address to try.
        let error = await CurlTransport().failure(.get, "http://only.bare-zone.test:\(server.port)/")
        #expect(error?.reason == .unreachable && hanging_lookup_count("only.bare-zone.test") >= 2)
    }

    @Test("A call cancelled during its lookup leaves nothing, and the others go on")
    func cancelled() async throws {
        let name = "left.hangs.test"
        let transport = CurlTransport()
        let calls = (0..<3).map { _ in Task { try await transport.exchange(.get, "http://\(name)/") } }
        #expect(await eventually { transport.snapshot.active == 3 && hanging_lookup_count(name) == 1 })
        calls[0].cancel()
        #expect(await outcome(calls[0]).reason == .cancelled)
        #expect(await eventually { transport.snapshot.active == 2 })
        hanging_lookup_release(name)
        for call in calls.dropFirst() { #expect(await outcome(call).reason == .unreachable) }
        await transport.shutdown()
    }

    @Test("A transport can be shut down while the system looks up a name")
    func shutdown() async throws {
        let name = "shutdown.hangs.test"
        let transport = CurlTransport()
        let call = Task { try await transport.exchange(.get, "http://\(name)/") }
        #expect(await eventually { hanging_lookup_count(name) == 1 })
        await transport.shutdown()
        #expect(await outcome(call).reason == .refused(by: .shutdown))
        hanging_lookup_release(name)
    }

    /// libcurl 7.88 lets calls wait for the first handshake, and then tries them one by one: the sixth failed after six
    /// times the limit.
    @Test("Calls to a server whose handshake hangs all end at their limit")
    func silentHandshake() async throws {
        let configuration = try await Nginx.shared().configuration
        let server = try RawServer { $0.waitUntilClosed() }
        let transport = CurlTransport(
            configuration: configuration, options: CurlTransport.Options(eventLoops: 1))
        let start = ContinuousClock.now
        let calls = (0..<6).map { _ in
            Task {
                try await transport.exchange(
                    .get, "https://127.0.0.1:\(server.port)/", timeouts: Timeouts(connect: .seconds(1)))
            }
        }
        for call in calls { #expect(await outcome(call).reason == .timedOut(.connect)) }
        #expect(ContinuousClock.now - start < .seconds(4))
    }
}
