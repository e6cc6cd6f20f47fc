// SPDX-License-Identifier: MIT

import Testing

/// Many transfers at once: each gets its own response.
@Suite(.timeLimit(.minutes(1)))
struct ConcurrencyTests {
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
