// SPDX-License-Identifier: MIT

import Testing

/// Everything that a server of HTTP/1.1 can write instead of a response, one after the other.
@Suite(.timeLimit(.minutes(1)))
struct HostileResponseTests {
    @Test(
        "A hostile response ends as it must, and the next calls get their own", arguments: HostileResponse.all.indices)
    func table(index: Int) async throws {
        let response = HostileResponse.all[index]
        // At once, byte by byte, and in random pieces; on a new connection and on a used one; gathered and streamed.
        for variant in 0..<12 {
            let seed = response.isWhole ? 0 : [0, 1, UInt64.random(in: 2...(.max))][variant % 3]
            let server = try HostileServer()
            let transport = CurlTransport(options: CurlTransport.Options(eventLoops: 1))
            let text: Comment = "\(response), seed \(seed), variant \(variant)"
            if variant % 2 == 0 { #expect(await HostileResponse.outcome(nil, of: server, over: transport) == .own) }
            let start = ContinuousClock.now
            let outcome = await HostileResponse.outcome(
                index, of: server, over: transport, seed: seed, streams: variant >= 6)
            #expect(response.allows(outcome), "\(text): \(outcome)")
            // Silence ends at its limit, and all others as soon as the bytes are there.
            #expect(ContinuousClock.now - start < .seconds(10), text)
            for _ in 0..<2 {
                #expect(await HostileResponse.outcome(nil, of: server, over: transport) == .own, text)
            }
            if outcome == .own || outcome == .empty {
                #expect((server.connectionCount == 1) == response.isKept, text)
            }
            await transport.shutdown()
        }
    }

    @Test("A response that comes before its request is no response to the next one")
    func greeting() async throws {
        let greeting = "HTTP/1.1 200 OK\r\nX-Id: early\r\nContent-Length: 5\r\n\r\nearly"
        let first = Locked<(connection: RawConnection, port: Int)?>(nil)
        let server = try HostileServer(greeting: greeting) { connection in
            first.withLock { $0 = (connection, connection.peerPort) }
        }
        let transport = CurlTransport(options: CurlTransport.Options(eventLoops: 1))
        // By HTTP/1.1 the bytes are its response if they come behind it.
        _ = await HostileResponse.outcome(nil, of: server, over: transport)
        let (connection, port) = try #require(first.withLock { $0 })
        // Either the response to the request has been written too, or the client has ended the connection.
        #expect(await eventually { connection.written > greeting.utf8.count || connection.peerPort == 0 })
        var sockets = ClientSockets(to: server.port)
        #expect(await sockets.haveReceived([.init(clientPort: port, bytes: connection.written)]))
        for _ in 0..<3 { #expect(await HostileResponse.outcome(nil, of: server, over: transport) == .own) }
        await transport.shutdown()
    }
}
