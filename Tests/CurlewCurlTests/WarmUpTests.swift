// SPDX-License-Identifier: MIT

import Testing

/// Connections that are there before they are needed.
@Suite(.timeLimit(.minutes(1)))
struct WarmUpTests {
    @Test("The first calls go over the connections that were opened ahead", arguments: [1, 4])
    func plain(count: Int) async throws {
        let transport = CurlTransport()
        let server = try MockServer.always(.status(.notFound), to: .head)
        server.on(.get, "/", respond: .text("ok").delayed(by: .milliseconds(100)))
        try await transport.warmUp(server.url + "/", connections: count)
        #expect(server.connectionCount == count)
        #expect(server.requests.allSatisfy { $0.method == .head })
        let observer = RecordingObserver()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<count {
                group.addTask { _ = try await transport.exchange(.get, server.url + "/", observers: [observer]) }
            }
            try await group.waitForAll()
        }
        #expect(await eventually { observer.events.count == count })
        #expect(observer.events.allSatisfy { $0.reusedConnection == true })
        #expect(server.connectionCount == count)
    }

    @Test("Over TLS the handshake is done, and one connection suffices for HTTP/2")
    func secure() async throws {
        let nginx = try await Nginx.shared()
        let transport = CurlTransport(configuration: nginx.configuration)
        try await transport.warmUp(nginx.secure() + "/empty", connections: 8)
        // Attempts count as opened: some versions try the address of IPv6 first.
        #expect(await eventually { transport.snapshot.connections == 1 })
        let response = try await transport.exchange(.get, nginx.secure() + "/empty")
        #expect(response.version == .http2)
        #expect(response.metrics.secureConnect == .zero && response.metrics.reusedConnection == true)
    }

    @Test("A warm-up opens no more than the pool may have, and adds to existing connections")
    func limits() async throws {
        let transport = CurlTransport(configuration: TransportConfiguration(connectionsPerHost: 3))
        let server = try MockServer.always(.status(.ok), to: .head)
        try await transport.warmUp(server.url + "/", connections: 50)
        #expect(server.connectionCount == 3)
    }

    @Test("A failure is thrown, and cancellation ends the warm-up")
    func failures() async throws {
        let transport = CurlTransport()
        let (socket, port) = try LoopbackPort.refusing()
        defer { close(socket) }
        await #expect(throws: NetworkError.self) { try await transport.warmUp("http://127.0.0.1:\(port)/") }
        await #expect(throws: NetworkError.self) { try await transport.warmUp("no url") }

        let crowded = try CrowdedPort()
        let task = Task { try await transport.warmUp(crowded.url, connections: 3, timeouts: .none) }
        #expect(await eventually { transport.snapshot.active > 0 })
        task.cancel()
        #expect(await outcome(task).reason == .cancelled)
    }
}
