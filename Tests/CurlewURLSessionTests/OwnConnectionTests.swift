// SPDX-License-Identifier: MIT

#if !canImport(Darwin)
import CurlewURLSession
import TestServers
import Testing

/// Requests that libcurl must not send again: each has a new connection, and a slot while it runs.
@Suite(.timeLimit(.minutes(1)))
struct OwnConnectionTests {
    @Test("A request with a body, or that must not be repeated, gets a connection of its own")
    func connections() async throws {
        let transport = URLSessionTransport()
        let server = try MockServer.always(.text("fine"), to: nil)
        let requests: [(HTTPMethod, RequestBody)] = [
            (.get, .empty), (.post, .empty), (.delete, .empty), (.put, .bytes(Data("x".utf8))), (.get, .empty),
        ]
        for (method, body) in requests {
            _ = try await transport.exchange(method, server.url + "/", body: body).data()
        }
        _ = try await transport.exchange(.post, server.url + "/") { $0.isIdempotent = true }.data()
        #expect(server.requests.map(\.connectionIndex) == [0, 1, 0, 2, 0, 0])
    }

    @Test("A used connection that is dead costs a request with a body nothing", arguments: [HTTPMethod.put, .delete])
    func bodies(method: HTTPMethod) async throws {
        let transport = URLSessionTransport()
        for death in [MockResponse.Interruption.close, .reset] {
            let server = try MockServer()
            server.on(nil, "/") { .text("\($0.body.count)") }
            _ = try await transport.exchange(.get, server.url + "/").data()
            server.on(method, "/") {
                $0.exchangeIndex > 0 ? .text("x").interrupted(by: death, at: .beforeHead) : .text("\($0.body.count)")
            }
            for count in [1, 1000, 300_000] {
                let body = RequestBody.bytes(pattern(count))
                #expect(try await transport.exchange(method, server.url + "/", body: body).text() == "\(count)")
                #expect(server.requests.last?.body == pattern(count))
            }
        }
    }

    /// A repeated request whose body Foundation does not rewind would leave its connection in the middle of a message.
    @Test("The bytes of a request are never the body of the one before", arguments: [50, 1000])
    func framing(count: Int) async throws {
        let transport = URLSessionTransport()
        let server = try MockServer.always(.text("mine"), to: nil)
        _ = try await transport.exchange(.get, server.url + "/").data()
        server.enqueue(.text("never").interrupted(by: .close, at: .beforeHead))
        server.enqueue(.text("early").early())
        let timeouts = Timeouts(firstByte: .seconds(2))
        let body = RequestBody.bytes(pattern(count))
        let failure = await transport.failure(.put, server.url + "/", body: body, timeouts: timeouts)
        #expect(failure?.reason == .connectionLost(.requestMayHaveArrived))
        #expect(server.requests.count { $0.method == .put } == 1)
        // The early response is for this one, which is complete.
        #expect(try await transport.exchange(.get, server.url + "/", timeouts: timeouts).text() == "early")
        #expect(try await transport.exchange(.get, server.url + "/", timeouts: timeouts).text() == "mine")
    }

    @Test("At most pool.perHost run at a time; a waiting one can be cancelled, late, or take its turn")
    func slots() async throws {
        let transport = URLSessionTransport(
            configuration: TransportConfiguration(pool: TransportConfiguration.Pool(perHost: 2)))
        let server = try MockServer()
        server.on(.post, "/stalled", respond: .text("x").stalled(at: .beforeHead))
        server.on(.post, "/", respond: .text("done"))
        let held = (0..<2).map { _ in Task { try await transport.exchange(.post, server.url + "/stalled") } }
        try await server.waitForRequests(count: 2)
        let late = await transport.failure(
            .post, server.url + "/", timeouts: Timeouts(total: .milliseconds(50)))
        #expect(late?.reason == .timedOut(.total))
        let cancelled = Task { try await transport.exchange(.post, server.url + "/") }
        #expect(await eventually { transport.snapshot.active == 3 })
        cancelled.cancel()
        #expect(await reason(of: cancelled) == .cancelled)
        #expect(await eventually { transport.snapshot.active == 2 })
        let patient = Task { try await transport.exchange(.post, server.url + "/").text() }
        #expect(await eventually { transport.snapshot.active == 3 })
        #expect(server.requestCount == 2)
        held[0].cancel()
        #expect(try await patient.value == "done")
        #expect(server.requests.count { $0.path == "/" } == 1)
        await transport.shutdown()
        #expect(await reason(of: held[1]) == .refused(by: .shutdown))
    }

    @Test("A shutdown ends waiting requests, and a drain lets them finish")
    func shutdown() async throws {
        let server = try MockServer()
        server.on(.post, "/stalled", respond: .text("x").stalled(at: .beforeHead))
        server.on(.post, "/slow", respond: .text("done").delayed(by: .milliseconds(30)))
        let one = TransportConfiguration(pool: TransportConfiguration.Pool(perHost: 1))
        let stopped = URLSessionTransport(configuration: one)
        let tasks = (0..<3).map { _ in Task { try await stopped.exchange(.post, server.url + "/stalled") } }
        try await server.waitForRequests(count: 1)
        #expect(await eventually { stopped.snapshot.active == 3 })
        await stopped.shutdown()
        for task in tasks { #expect(await reason(of: task) == .refused(by: .shutdown)) }
        #expect(server.requestCount == 1)
        let draining = URLSessionTransport(configuration: one)
        let slow = (0..<3).map { _ in Task { try await draining.exchange(.post, server.url + "/slow").text() } }
        // On a busy machine the first may be over when the last begins.
        #expect(await eventually { draining.snapshot.active + draining.snapshot.completed == 3 })
        await draining.shutdown(.drain(deadline: .seconds(20)))
        for task in slow { #expect(try await task.value == "done") }
    }

    @Test("Hundreds of requests, some cancelled at any moment, leave no descriptor behind")
    func leaks() async {
        await #expect(processExitsWith: .success) {
            let transport = URLSessionTransport()
            let server = try MockServer.always(.generated(bytes: 20_000), to: nil)
            let body = RequestBody.bytes(pattern(1000))
            func round(_ number: Int) async {
                await withTaskGroup(of: Void.self) { group in
                    for index in 0..<40 {
                        group.addTask {
                            let task = Task {
                                try await transport.exchange(.post, server.url + "/", body: body).data()
                            }
                            if index.isMultiple(of: 2) {
                                // From before the start to about the time of a response.
                                try? await SystemTime().sleep(for: .microseconds((index * 97 + number * 31) % 4000))
                                task.cancel()
                            }
                            if let data = try? await task.value { #expect(data.count == 20_000) }
                        }
                    }
                }
            }
            func descriptors() -> Int {
                (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? .max
            }
            await round(0)
            #expect(await eventually { transport.snapshot.active == 0 })
            let before = descriptors()
            for number in 1...15 { await round(number) }
            #expect(await eventually { transport.snapshot.active == 0 && descriptors() <= before + 3 })
            #expect(try await transport.exchange(.post, server.url + "/", body: body).data().count == 20_000)
        }
    }
}
#endif
