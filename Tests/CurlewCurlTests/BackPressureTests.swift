// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewCurl
import CurlewHTTP
import CurlewTesting
import Foundation
import TestServers
import Testing

/// A reader decides how much arrives; an unwanted body ends its transfer.
@Suite(.timeLimit(.minutes(1)))
struct BackPressureTests {
    private static let size = 40 << 20

    /// Writes `size` bytes of the pattern and keeps the connection, so that the writer shows how far it got.
    private func endlessServer() throws -> (server: RawServer, connection: Locked<RawConnection?>, closed: Signal) {
        let current = Locked<RawConnection?>(nil)
        let closed = Signal()
        let server = try RawServer { connection in
            current.withLock { $0 = connection }
            defer { closed.fire() }
            _ = try connection.readHead()
            try connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(Self.size)\r\n\r\n")
            let block = pattern(251 * 1024)
            var sent = 0
            while sent < Self.size {
                let count = min(block.count, Self.size - sent)
                try connection.write(block.prefix(count))
                sent += count
            }
            connection.waitUntilClosed()
        }
        return (server, current, closed)
    }

    /// How much the server has written when it gets no further.
    private func standstill(_ connection: Locked<RawConnection?>) async throws -> Int {
        var last = -1
        while true {
            let written = connection.withLock { $0?.written ?? 0 }
            if written == last, written > 0 { return written }
            last = written
            try await SystemTime().sleep(for: .milliseconds(100))
        }
    }

    @Test(
        "a body that is released unread closes its connection", arguments: ["unread", "begun", "cancelled", "paused"])
    func abandoned(kind: String) async throws {
        let transport = CurlTransport(configuration: TransportConfiguration(bodyBuffer: 16_384))
        let (server, connection, closed) = try endlessServer()
        func use() async throws {
            let response = try await transport.exchange(.get, server.url + "/")
            if kind == "paused" { _ = try await standstill(connection) }
            if kind == "begun" {
                var iterator = response.body.makeAsyncIterator()
                _ = try await iterator.next()
            }
            if kind == "cancelled" {
                response.body.cancel()
                let error = try await #require(throws: NetworkError.self) { try await response.bytes() }
                #expect(error.reason == .cancelled)
            }
        }
        try await use()
        await closed.wait()
        #expect(try await transport.exchange(.get, server.url + "/").status == .ok)
    }

    @Test("the transport and its thread go with the last body that it feeds", arguments: [false, true])
    func lifetime(readsToTheEnd: Bool) async throws {
        let server = try MockServer()
        server.on(.get, "/", respond: .generated(bytes: 200_000))
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

    @Test("a body outlives the transport variable that made it")
    func outlives() async throws {
        let server = try MockServer()
        server.on(.get, "/", respond: .data(Data(count: 2_000_000)))
        func body() async throws -> ResponseBody {
            try await CurlTransport().exchange(.get, server.url + "/").body
        }
        #expect(try await body().collect().count == 2_000_000)
    }
}
