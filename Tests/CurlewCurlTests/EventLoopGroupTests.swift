// SPDX-License-Identifier: MIT

import Testing

/// A transport with several threads.
@Suite(.timeLimit(.minutes(1)))
struct EventLoopGroupTests {
    @Test("Calls to one origin share connections whatever the number of threads", arguments: [1, 4])
    func reuse(loops: Int) async throws {
        let transport = CurlTransport(options: CurlTransport.Options(eventLoops: loops))
        let servers = try (0..<8).map { _ in try MockServer() }
        for server in servers { server.on(.get, "/", respond: .text("hello")) }
        for _ in 0..<3 {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for server in servers {
                    group.addTask { _ = try await transport.exchange(.get, server.url + "/").data() }
                }
                try await group.waitForAll()
            }
        }
        #expect(servers.map(\.connectionCount) == Array(repeating: 1, count: 8))
        #expect(await eventually { transport.snapshot.completed == 24 })
        #expect(transport.snapshot.reused == 16 && transport.snapshot.connections == 8)
        await transport.shutdown(.drain(deadline: .seconds(10)))
        #expect(transport.snapshot.connections == 0)
        let error = await #expect(throws: NetworkError.self) {
            try await transport.exchange(.get, servers[0].url + "/")
        }
        #expect(error?.reason == .refused(by: .shutdown))
    }

    @Test("Origins are spread over the threads, and there are no more threads than allowed")
    func threads() async {
        await #expect(processExitsWith: .success) {
            let transport = CurlTransport(options: CurlTransport.Options(eventLoops: 3))
            #expect(Self.engineThreads == 0)
            for port in 1...40 { _ = try? await transport.exchange(.get, "http://127.0.0.1:\(port)/") }
            #expect((2...3).contains(Self.engineThreads))
            await transport.shutdown()
            #expect(await eventually { Self.engineThreads == 0 })
        }
    }

    @Test("All allowed threads serve one origin when many calls are in progress")
    func help() async {
        await #expect(processExitsWith: .success) {
            let options = CurlTransport.Options(eventLoops: 3, eventLoopsPerOrigin: 3)
            let transport = CurlTransport(options: options)
            let server = try MockServer.always(.text("never").stalled(at: .beforeHead))
            let calls = (0..<40).map { _ in Task { try await transport.exchange(.get, server.url + "/") } }
            _ = try await server.waitForRequests(count: 40)
            #expect(Self.engineThreads == 3)
            for call in calls { call.cancel() }
            for call in calls { #expect(await (call.result.failure as? NetworkError)?.isCancelled == true) }
            await transport.shutdown()
        }
    }

    @Test("Over TLS one thread serves an origin, or as many as allowed", arguments: [1, 2, 3])
    func secureHelp(allowed: Int) async throws {
        let certificates = try await Nginx.shared().certificates
        let server = try await onThread { try H2Server(certificates) }
        let configuration = TransportConfiguration(
            tls: TransportConfiguration.TLS(trustedRoots: .file(certificates.authority)))
        let options = CurlTransport.Options(eventLoops: 3, eventLoopsPerOrigin: allowed)
        let transport = CurlTransport(configuration: configuration, options: options)
        let calls = (0..<90).map { number in
            Task { try await transport.exchange(.get, server.url + "/silent/\(number)") }
        }
        // One connection for each thread, which carries all of its calls. Before the first response it is unknown that
        // it can carry more than there are places.
        let areThere = await eventually {
            let now = transport.snapshot
            return now.connections == allowed && now.active == 64 && now.waiting == 26
        }
        #expect(areThere, "\(transport.snapshot)")
        for call in calls { call.cancel() }
        for call in calls { #expect(await (call.result.failure as? NetworkError)?.isCancelled == true) }
        await transport.shutdown()
    }

    @Test(
        "A host has as many slots as allowed, whichever event loop serves it", .serialized,
        arguments: [(3, 40), (3, 5), (4, 2), (2, 1)])
    func places(loops: Int, perHost: Int) async throws {
        let configuration = TransportConfiguration(
            pool: TransportConfiguration.Pool(perHost: perHost, waitingPerHost: 1000))
        let transport = CurlTransport(
            configuration: configuration,
            options: CurlTransport.Options(eventLoops: loops, eventLoopsPerOrigin: loops))
        let server = try MockServer.always(.text("never").stalled(at: .beforeHead))
        let calls = (0..<60).map { _ in Task { try await transport.exchange(.get, server.url + "/") } }
        _ = try await server.waitForRequests(count: perHost)
        #expect(await eventually { transport.snapshot.waiting == 60 - perHost })
        #expect(transport.snapshot.active == perHost && server.connectionCount == perHost)
        for call in calls { call.cancel() }
        for call in calls { #expect(await (call.result.failure as? NetworkError)?.isCancelled == true) }
        let quick = try MockServer.always(.text("hello"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<200 { group.addTask { _ = try await transport.exchange(.get, quick.url + "/").data() } }
            try await group.waitForAll()
        }
        #expect(quick.connectionCount <= perHost)
        await transport.shutdown()
    }

    @Test("After the idle lifetime the transport closes its sockets and threads, and can begin again")
    func rest() async {
        await #expect(processExitsWith: .success) {
            let server = try MockServer.always(.text("hello"))
            let pool = TransportConfiguration.Pool(idleLifetime: .seconds(1))
            let transport = CurlTransport(
                configuration: TransportConfiguration(pool: pool), options: CurlTransport.Options(eventLoops: 3))
            for round in 1...2 {
                let threads = try await withThrowingTaskGroup(of: Int.self) { group in
                    for _ in 0..<30 {
                        group.addTask {
                            _ = try await transport.exchange(.get, server.url + "/").data()
                            return Self.engineThreads
                        }
                    }
                    return try await group.reduce(0, max)
                }
                #expect(threads > 0)
                #expect(await eventually { Self.engineThreads == 0 })
                let now = transport.snapshot
                #expect(now.connections == 0 && now.handles == 0 && now.completed == round * 30, "\(now)")
            }
            await transport.shutdown(.drain(deadline: .seconds(10)))
        }
    }

    @Test("An idle transport uses no processor time", arguments: [0.1, 2.5])
    func quietRest(idleLifetime: Double) async {
        await #expect(processExitsWith: .success) { [idleLifetime] in
            let server = try MockServer.always(.text("hello"))
            let pool = TransportConfiguration.Pool(idleLifetime: .seconds(idleLifetime))
            let transport = CurlTransport(configuration: TransportConfiguration(pool: pool))
            _ = try await transport.exchange(.get, server.url + "/").data()
            // The time of the engine's own threads: this loop, which reads a folder each time, uses more than they do.
            let ticks = Locked(0)
            #expect(
                await eventually {
                    ticks.withLock { $0 = max($0, Self.engineTicks) }
                    return Self.engineThreads == 0
                })
            let seconds = Double(ticks.withLock { $0 }) / Double(sysconf(Int32(_SC_CLK_TCK)))
            #expect(seconds < 0.5, "\(seconds) s of CPU")
        }
    }

    @Test("The number of threads has bounds")
    func bounds() {
        var options = CurlTransport.Options()
        #expect(options.eventLoops == 2 && options.eventLoopsPerOrigin == 1)
        for (asked, used) in [(0, 1), (-1, 1), (7, 7), (64, 64), (65, 64), (1000, 64)] {
            options.eventLoops = asked
            options.eventLoopsPerOrigin = asked
            #expect(options == CurlTransport.Options(eventLoops: asked, eventLoopsPerOrigin: asked))
            #expect(options.eventLoops == used && options.eventLoopsPerOrigin == used)
        }
    }

    private static var engineThreads: Int { engineThreadStates.count }

    /// The processor time of the engine's threads so far, in the system's ticks: what they used in user mode (field 14
    /// of proc_pid_stat(5)) and in the kernel (field 15).
    private static var engineTicks: Int {
        engineThreadStates.reduce(0) { sum, state in
            let fields = state.drop { $0 != ")" }.split(separator: " ").dropFirst(12).prefix(2)
            return sum + fields.reduce(0) { $0 + (Int($1) ?? 0) }
        }
    }

    private static var engineThreadStates: [String] {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return tasks.compactMap { task in
            let state = try? String(contentsOfFile: "/proc/self/task/\(task)/stat", encoding: .utf8)
            return state?.contains("(curlew-loop)") == true ? state : nil
        }
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
