// SPDX-License-Identifier: MIT

import Testing

/// Exchanges that find no slot at their host.
@Suite(.timeLimit(.minutes(1)))
struct WaitingTests {
    /// A transport with few slots, and a server whose `/held` and `/long` answer on request.
    struct Setting {
        let transport: CurlTransport
        let server: MockServer
        let release = Signal()
        let releaseLong = Signal()

        init(places: Int, waiting: Int = 10_000, loops: Int = 1) throws {
            let pool = TransportConfiguration.Pool(perHost: places, waitingPerHost: waiting)
            transport = CurlTransport(
                configuration: TransportConfiguration(pool: pool), options: CurlTransport.Options(eventLoops: loops))
            server = try MockServer()
            server.on(.get, "/held") { [release] _ in
                release.block()
                return .text("held")
            }
            server.on(.get, "/long") { [releaseLong] _ in
                releaseLong.block()
                return .text("long")
            }
            server.on(.get, "/free", respond: .text("free"))
            for name in ["low", "normal", "high"] { server.on(.get, "/" + name, respond: .text(name)) }
        }

        /// Starts an exchange, and returns when the transport shows it as begun or waiting.
        func start(
            _ path: String, timeouts: Timeouts = .standard, priority: RequestOptions.Priority? = nil
        ) async throws -> Task<HTTPResponse, any Error> {
            let before = transport.snapshot
            let task = Task { [transport, server] in
                try await transport.exchange(.get, server.url + path, timeouts: timeouts) { $0.priority = priority }
            }
            let hasBegun = await eventually {
                let now = transport.snapshot
                return now.active + now.waiting > before.active + before.waiting
            }
            #expect(hasBegun)
            return task
        }
    }

    @Test("No more connections than allowed are open; other requests wait, and report how long", arguments: [1, 2])
    func places(loops: Int) async throws {
        let setting = try Setting(places: 2, loops: loops)
        var tasks: [Task<HTTPResponse, any Error>] = []
        for _ in 0..<6 { tasks.append(try await setting.start("/held")) }
        #expect(setting.transport.snapshot.active == 2 && setting.transport.snapshot.waiting == 4)
        // They have waited for at least as long as this test looks at them.
        let start = ContinuousClock.now
        #expect(setting.transport.snapshot.description.contains(" 4 waiting"))
        let span = ContinuousClock.now - start
        setting.release.fire()
        var queued: [Duration] = []
        for task in tasks {
            let response = try await task.value
            #expect(response.status == .ok)
            queued.append(response.metrics.queue ?? .zero)
        }
        #expect(queued[2...].allSatisfy { $0 >= span }, "\(queued)")
        // The second may find the first one's connection free before it has opened its own.
        #expect((1...2).contains(setting.server.connectionCount))
        #expect(await eventually { setting.transport.snapshot.waiting == 0 && setting.transport.snapshot.active == 0 })
    }

    @Test("Waiting ends at once with a cancellation, and at the deadline", arguments: [1, 2, 4])
    func ends(loops: Int) async throws {
        let setting = try Setting(places: loops, loops: loops)
        var held: [Task<HTTPResponse, any Error>] = []
        for _ in 0..<loops { held.append(try await setting.start("/held")) }
        try await setting.server.waitForRequests(count: loops)
        let cancelled = try await setting.start("/free")
        // Not a phase of the exchange: those begin with its turn.
        let patient = try await setting.start(
            "/free", timeouts: Timeouts(connect: .milliseconds(300), firstByte: .milliseconds(300)))
        let late = Task { [transport = setting.transport, url = setting.server.url] in
            try await transport.exchange(.get, url + "/free", timeouts: Timeouts(total: .milliseconds(400)))
        }
        cancelled.cancel()
        #expect(await outcome(cancelled).reason == .cancelled)
        guard case .failure(let error) = await outcome(late) else {
            Issue.record("The exchange did not end.")
            return
        }
        #expect(error.reason == .timedOut(.queue))
        expectTexts(error)
        #expect(await eventually { setting.transport.snapshot.waiting <= 1 })
        setting.release.fire()
        for task in held { #expect(try await task.value.status == .ok) }
        _ = await outcome(patient)
        _ = try await setting.server.waitForRequests(count: loops + 1)
        #expect(setting.server.requests.map(\.path) == Array(repeating: "/held", count: loops) + ["/free"])
    }

    /// Their timeouts begin with their turn, as for those that wait for a connection to their host.
    @Test("A limit for all connections is a queue too, in which each origin has its turn")
    func total() async throws {
        let pool = TransportConfiguration.Pool(total: 1)
        let transport = CurlTransport(configuration: TransportConfiguration(pool: pool))
        let release = Signal()
        let servers = try (0..<3).map { _ in try MockServer() }
        let order = Locked<[Int]>([])
        for (number, server) in servers.enumerated() {
            server.on(.get, "/") { _ in
                order.withLock { $0.append(number) }
                release.block()
                return .text("ok")
            }
        }
        var calls: [Task<HTTPResponse, any Error>] = []
        for number in [0, 0, 0, 1, 1, 2] {
            let before = transport.snapshot
            calls.append(
                Task { [url = servers[number].url] in
                    try await transport.exchange(.get, url + "/", timeouts: Timeouts(firstByte: .seconds(20)))
                })
            #expect(
                await eventually {
                    transport.snapshot.waiting + transport.snapshot.active > before.waiting + before.active
                })
        }
        #expect(transport.snapshot.active == 1 && transport.snapshot.waiting == 5)
        release.fire()
        for call in calls { #expect(try await call.value.status == .ok) }
        #expect(order.withLock { $0 } == [0, 0, 1, 2, 0, 1])
        #expect(transport.snapshot.connections <= 1)
    }

    @Test("Plain requests through one proxy share its connections, and wait for them here")
    func proxy() async throws {
        let proxy = try MockServer()
        let release = Signal()
        proxy.on(.get, "/") { _ in
            release.block()
            return .text("ok")
        }
        let configuration = TransportConfiguration(
            proxy: .fixed(TransportConfiguration.Proxy.Server(.http, host: "127.0.0.1", port: proxy.port)),
            pool: TransportConfiguration.Pool(perHost: 1))
        let transport = CurlTransport(configuration: configuration)
        var calls: [Task<HTTPResponse, any Error>] = []
        for port in [1, 2, 3] {
            calls.append(
                Task {
                    try await transport.exchange(
                        .get, "http://127.0.0.1:\(port)/", timeouts: Timeouts(firstByte: .seconds(20)))
                })
        }
        #expect(await eventually { transport.snapshot.active == 1 && transport.snapshot.waiting == 2 })
        release.fire()
        for call in calls { #expect(try await call.value.status == .ok) }
        #expect(proxy.connectionCount == 1)
    }

    @Test("A shutdown ends waiting calls; a drain lets them finish", arguments: [true, false], [1, 2])
    func shutdown(drains: Bool, loops: Int) async throws {
        let setting = try Setting(places: loops, loops: loops)
        var tasks: [Task<HTTPResponse, any Error>] = []
        for _ in 0..<loops { tasks.append(try await setting.start("/held")) }
        for _ in 0..<10 { tasks.append(try await setting.start("/free")) }
        async let ending: Void = setting.transport.shutdown(drains ? .drain(deadline: .seconds(30)) : .now)
        if drains { setting.release.fire() }
        await ending
        for task in tasks {
            #expect(await outcome(task).reason == (drains ? nil : .refused(by: .shutdown)))
        }
        setting.release.fire()
        #expect(setting.transport.snapshot.waiting == 0)
    }

    @Test("An origin that speaks HTTP/2 is not limited by its connections")
    func sharing() async throws {
        let nginx = try await Nginx.shared()
        var configuration = nginx.configuration
        (configuration.pool.perHost, configuration.bodyBuffer) = (1, 16_384)
        let transport = CurlTransport(configuration: configuration)
        let url = nginx.secure() + "/upload/waiting.bin"
        _ = try await transport.exchange(.put, url, body: .bytes(pattern(1_000_000)))
        var bodies: [ResponseBody] = []
        for _ in 0..<5 { bodies.append(try await transport.exchange(.get, url).body) }
        #expect(await eventually { transport.snapshot.active == 5 && transport.snapshot.paused == 5 })
        #expect(transport.snapshot.connections == 1)
        for body in bodies { #expect(try await body.collect().count == 1_000_000) }
    }
}
