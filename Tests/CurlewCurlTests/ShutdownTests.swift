// SPDX-License-Identifier: MIT

import Testing

/// The end of a transport: immediate, for all calls, leaving nothing.
@Suite(.timeLimit(.minutes(1)))
struct ShutdownTests {
    @Test("A shutdown also ends an upload without data, a connection being made and a waiting reader")
    func inFlight() async throws {
        let transport = CurlTransport()
        let server = try MockServer()
        server.on(.get, "/half", respond: .generated(bytes: 1000).stalled(at: .afterBytes(500)))
        server.on(.put, "/", respond: .status(.ok))
        let crowded = try CrowdedPort()
        let waiting = try await transport.exchange(.get, server.url + "/half") { $0.streaming = true }.body
        let stuck = RequestBody.stream { .init(Stuck(ended: Signal())) }
        let tasks = [
            Task { try await transport.exchange(.put, server.url + "/", body: stuck).data() },
            Task { try await transport.exchange(.get, crowded.url, timeouts: .none).data() },
            Task { try await waiting.collect() },
        ]
        #expect(await eventually { server.connectionCount == 2 && transport.snapshot.active == 3 })
        await transport.shutdown()
        for task in tasks { #expect(await outcome(task).reason == .refused(by: .shutdown)) }
    }

    @Test("Several callers may shut down at the same time")
    func concurrentShutdown() async throws {
        let server = try MockServer.always(.text("ok"))
        let transport = CurlTransport()
        #expect(try await transport.exchange(.get, server.url + "/").text() == "ok")
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<10 { group.addTask { await transport.shutdown() } }
        }
    }

    @Test("A shutdown leaves no thread and no descriptor")
    func leavesNothing() async {
        // In a process of its own, because tests beside this one open and close descriptors.
        await #expect(processExitsWith: .success) {
            let server = try MockServer.always(.text("ok"))
            server.on(.get, "/body", respond: .data(Data(count: 20_000_000)))
            // What the first use of timers, files and the like opens once is not counted.
            _ = try await CurlTransport().exchange(.get, server.url + "/").text()
            #expect(await eventually { Engine.threadCount == 0 })
            let before = Engine.descriptors
            for round in 0..<10 {
                let transport = CurlTransport()
                let paused = try await transport.exchange(.get, server.url + "/body")
                let texts = try await withThrowingTaskGroup(of: String.self) { group in
                    for _ in 0..<20 {
                        group.addTask { try await transport.exchange(.get, server.url + "/").text() }
                    }
                    return try await group.reduce(into: [String]()) { $0.append($1) }
                }
                #expect(texts == Array(repeating: "ok", count: 20))
                // Those of the transports before end a moment later.
                #expect(await eventually { (1...2).contains(Engine.threadCount) })
                if round % 2 == 0 { await transport.shutdown() }
                withExtendedLifetime(paused) {}
            }
            #expect(await eventually { Engine.threadCount == 0 })
            // The server's ends of the connections close a moment later.
            let areClosed = await eventually { Engine.descriptors.count <= before.count }
            #expect(areClosed, "before: \(before.sorted()), after: \(Engine.descriptors.sorted())")
        }
    }

    @Test("A process may end while transports shake hands", .usesKnownOpenSSL, arguments: 0..<8)
    func exitInFlight(round: Int) async throws {
        let nginx = try await Nginx.shared()
        let (url, roots) = (nginx.secure() + "/empty", nginx.certificates.authority)
        await #expect(processExitsWith: .exitCode(7)) { [url = url as String, roots = roots as String] in
            let tls = TransportConfiguration.TLS(trustedRoots: .file(roots))
            let done = Locked(0)
            for _ in 0..<8 {
                Task.detached {
                    while true {
                        let transport = CurlTransport(configuration: TransportConfiguration(tls: tls))
                        _ = try await transport.exchange(.get, url)
                        done.withLock { $0 += 1 }
                    }
                }
            }
            _ = await eventually { done.withLock { $0 } > 8 }
            exit(7)
        }
    }

    @Test("The transport and its thread go with the last body that it feeds", arguments: [false, true])
    func lifetime(readsToTheEnd: Bool) async throws {
        let server = try MockServer.always(.generated(bytes: 200_000))
        weak var engine: CurlTransport?
        func use() async throws {
            let transport = CurlTransport()
            engine = transport
            let response = try await transport.exchange(.get, server.url + "/")
            if readsToTheEnd { #expect(try await response.data().count == 200_000) }
        }
        try await use()
        #expect(await eventually { engine == nil })
    }

    @Test("A body outlives the transport variable that made it")
    func outlives() async throws {
        let server = try MockServer.always(.data(Data(count: 2_000_000)))
        func body() async throws -> ResponseBody {
            try await CurlTransport().exchange(.get, server.url + "/").body
        }
        #expect(try await body().collect().count == 2_000_000)
    }
}

/// What the system knows of this process.
enum Engine {
    static var threadCount: Int { threads(named: "curlew-loop") }

    static func threads(named wanted: String) -> Int {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return tasks.count { task in
            let name = try? String(contentsOfFile: "/proc/self/task/\(task)/comm", encoding: .utf8)
            return name == wanted + "\n"
        }
    }

    /// What a transport could own: sockets, and descriptors for waking threads. (Timers and the like come with the
    /// runtime.)
    static var descriptors: [String] {
        let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        let all = numbers.compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
        }
        return all.filter { $0.hasPrefix("socket:") || $0.hasSuffix("[eventfd]") }
    }
}
