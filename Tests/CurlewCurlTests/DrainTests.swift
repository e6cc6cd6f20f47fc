// SPDX-License-Identifier: MIT

import Testing

/// The end of a transport that lets its work finish, and the numbers it shows in the meantime.
@Suite(.timeLimit(.minutes(1)))
struct DrainTests {
    static let refused = NetworkError.Reason.refused(by: .shutdown)
    let transport = CurlTransport()

    @Test("A drain lets exchanges and bodies finish, and refuses new calls")
    func drain() async throws {
        let (server, arrived, answer) = (try MockServer(), Signal(), Signal())
        server.on(.get, "/big", respond: .generated(bytes: 3_000_000))
        server.on(.get, "/slow") { _ in
            arrived.fire()
            answer.block()
            return .text("done")
        }
        let body = try await transport.exchange(.get, server.url + "/big").body
        let slow = Task { [transport] in try await transport.exchange(.get, server.url + "/slow").bytes() }
        await arrived.wait()
        let draining = Task { [transport] in await transport.shutdown(.drain(deadline: .seconds(30))) }

        // The drain has begun when new work is refused.
        var refusal: NetworkError?
        while refusal == nil {
            do {
                _ = try await transport.exchange(.get, server.url + "/unknown")
            } catch {
                refusal = NetworkError(error)
            }
        }
        #expect(refusal?.reason == Self.refused)
        #expect(transport.snapshot.active >= 1)
        #expect(try await body.collect().count == 3_000_000)
        answer.fire()
        #expect(try await slow.value == Data("done".utf8))
        await draining.value
        #expect(transport.snapshot.active == 0)
        #expect(transport.snapshot.connections == 0)
    }

    @Test("Transfers left at the end of a drain end with the transport", arguments: [0, 50])
    func deadline(milliseconds: Int) async throws {
        let server = try MockServer()
        server.on(.get, "/silent", respond: MockResponse().stalled(at: .beforeHead))
        server.on(.get, "/big", respond: .generated(bytes: 30_000_000))
        let unread = try await transport.exchange(.get, server.url + "/big").body
        let task = Task { [transport] in try await transport.exchange(.get, server.url + "/silent") }
        _ = try await server.waitForRequests(count: 2)
        let start = ContinuousClock.now
        await transport.shutdown(.drain(deadline: .milliseconds(milliseconds)))
        let time = ContinuousClock.now - start
        #expect(time >= .milliseconds(milliseconds) && time < .seconds(10))
        #expect(await outcome(task).reason == Self.refused)
        await #expect(throws: NetworkError.self) { try await unread.collect() }
    }

    @Test("A shutdown at once cuts a drain short")
    func cutShort() async throws {
        let server = try MockServer()
        server.on(.get, "/silent", respond: MockResponse().stalled(at: .beforeHead))
        let task = Task { [transport] in try await transport.exchange(.get, server.url + "/silent") }
        _ = try await server.waitForRequests(count: 1)
        async let draining: Void = transport.shutdown(.drain(deadline: .seconds(3600)))
        await transport.shutdown()
        await draining
        #expect(await outcome(task).reason == Self.refused)
    }

    @Test("The snapshot counts exchanges and connections")
    func snapshot() async throws {
        #expect(transport.snapshot == TransportConfiguration.Pool.Snapshot())
        let server = try MockServer.always(.text("hello"))
        server.on(.get, "/silent", respond: MockResponse().stalled(at: .beforeHead))
        server.on(.get, "/big", respond: .generated(bytes: 30_000_000))
        for _ in 0..<3 { _ = try await transport.exchange(.get, server.url + "/").bytes() }
        #expect(await eventually { transport.snapshot.completed == 3 })
        var expected = TransportConfiguration.Pool.Snapshot()
        (expected.completed, expected.reused) = (3, 2)
        (expected.connections, expected.connectionsOpened) = (1, 1)
        #expect(transport.snapshot == expected)

        let body = try await transport.exchange(.get, server.url + "/big").body
        let task = Task { [transport] in try await transport.exchange(.get, server.url + "/silent") }
        (expected.active, expected.paused) = (2, 1)
        (expected.connections, expected.connectionsOpened) = (2, 2)
        #expect(await eventually { transport.snapshot == expected }, "\(transport.snapshot)")

        // An HTTP/1.1 connection whose exchange is dropped cannot be used again.
        body.cancel()
        task.cancel()
        (expected.active, expected.paused, expected.connections, expected.completed, expected.reused) = (0, 0, 0, 5, 3)
        #expect(await eventually { transport.snapshot == expected }, "\(transport.snapshot)")
        #expect(transport.snapshot.description.hasPrefix("0 active, 0 paused, 0 waiting; 0 connections, 2 opened; 5 "))
        await transport.shutdown()
    }
}
