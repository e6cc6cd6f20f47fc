// SPDX-License-Identifier: MIT

import Testing

/// The connection of a response whose body is dropped before its end.
@Suite(.timeLimit(.minutes(1)))
struct DroppedBodyTests {
    private let transport = CurlTransport(
        configuration: TransportConfiguration(connectionsPerHost: 1, bodyBuffer: 8192))

    /// Answers each request with `count` bytes. `written` fires when the system has taken the first response.
    private func server(_ count: Int, written: Signal) throws -> RawServer {
        try RawServer { connection in
            while true {
                _ = try connection.readHead()
                try connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n")
                try connection.write(pattern(count))
                written.fire()
            }
        }
    }

    private func dropOne(_ server: RawServer, after written: Signal? = nil) async throws {
        let response = try await transport.exchange(.get, server.url + "/") { $0.streaming = true }
        #expect(try await response.body.first { _ in true } != nil)
        await written?.wait()
        response.body.cancel()
    }

    @Test("The small remainder of a dropped body is received, and the connection used again")
    func small() async throws {
        let written = Signal()
        let server = try server(60_000, written: written)
        for _ in 0..<5 { try await dropOne(server, after: written) }
        #expect(try await transport.exchange(.get, server.url + "/").data() == pattern(60_000))
        #expect(server.connectionCount == 1)
    }

    @Test("For a large remainder of a dropped body the connection is closed")
    func large() async throws {
        let server = try RawServer { connection in
            _ = try connection.readHead()
            try connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10000000\r\n\r\n")
            try connection.write(pattern(connection.index == 0 ? 100_000 : 10_000_000))
            connection.waitUntilClosed()
        }
        try await dropOne(server)
        #expect(try await transport.exchange(.get, server.url + "/").data().count == 10_000_000)
        #expect(server.connectionCount == 2)
    }

    @Test("A remainder that does not come delays the next call for a second at most")
    func silent() async throws {
        let server = try RawServer { connection in
            _ = try connection.readHead()
            try connection.write(
                "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n" + (connection.index == 0 ? "12" : "1234"))
            connection.waitUntilClosed()
        }
        try await dropOne(server)
        #expect(try await transport.exchange(.get, server.url + "/").text() == "1234")
        #expect(server.connectionCount == 2)
        #expect(await eventually { transport.snapshot.active == 0 })
    }
}
