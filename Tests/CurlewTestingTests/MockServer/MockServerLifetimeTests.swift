// SPDX-License-Identifier: MIT

import Testing

@Suite(.timeLimit(.minutes(1)))
struct MockServerLifetimeTests {
    private static let request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

    @Test("Stopping closes connections and the port, and may be repeated")
    func stop() throws {
        let server = try MockServer()
        let client = try RawClient(port: server.port)
        _ = client.get("/")
        server.stop()
        server.stop()
        #expect(client.readToEnd().ending == .orderly)
        let port = server.port
        #expect(throws: RawClient.Refused.self) { try RawClient(port: port) }
        #expect(server.requests.count == 1)
    }

    @Test("A server stops when it is no longer referenced")
    func lifetime() throws {
        var server: MockServer? = try MockServer()
        let port = try #require(server?.port)
        let client = try RawClient(port: port)
        _ = client.get("/")
        server = nil
        #expect(client.readToEnd().ending == .orderly)
        #expect(throws: RawClient.Refused.self) { try RawClient(port: port) }
    }

    @Test("A handler may stop its own server")
    func stopFromHandler() throws {
        let server = try MockServer()
        server.on(.get, "/") { [weak server] _ in
            server?.stop()
            return .text("bye")
        }
        let (text, ending) = try RawClient(port: server.port).send(Self.request).readToEnd()
        #expect(text.hasSuffix("bye") || text.isEmpty)
        #expect(ending == .orderly)
        server.stop()
    }

    @Test("Waiting ends with the last request that was waited for")
    func waiting() async throws {
        let server = try MockServer()
        let port = server.port
        async let waited = server.waitForRequests(count: 3)
        let client = try RawClient(port: port)
        for path in ["/1", "/2", "/3"] { _ = client.get(path) }
        #expect(try await waited.prefix(3).map(\.path) == ["/1", "/2", "/3"])
        #expect(try await server.waitForRequests(count: 2).count == 3)
    }

    @Test("Waiting in vain ends with the timeout, with the stop, and with the task")
    func waitingInVain() async throws {
        let server = try MockServer()
        let error = await #expect(throws: MockError.self) {
            try await server.waitForRequests(count: 1, timeout: .milliseconds(10))
        }
        #expect(error?.message.contains("1 requests") == true)

        let cancelled = Task { try await server.waitForRequests(count: 1) }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }

        let stopped = Task { try await server.waitForRequests(count: 1) }
        server.stop()
        await #expect(throws: MockError.self) { try await stopped.value }
    }

    @Test("Servers come and go without leaving anything behind")
    func manyServers() throws {
        for index in 0..<50 {
            let server = try MockServer()
            server.on(.get, "/", respond: .text("\(index)"))
            #expect(try RawClient(port: server.port).get("/").body == "\(index)")
        }
    }
}
