// SPDX-License-Identifier: MIT

import Testing

/// HTTP/2 connections that a balancer between client and server has forgotten: nothing comes on them any more.
@Suite(.timeLimit(.minutes(1)))
struct DeadConnectionTests {
    /// Passes bytes between clients and `port`, until the first connection is frozen or that many have come back on it.
    private final class Relay: Sendable {
        let isFrozen = Locked(false)
        let server: RawServer
        var url: String { "https://localhost:\(server.port)" }

        init(to port: Int, freezesAfter limit: Int) throws {
            let isFrozen = isFrozen
            server = try RawServer { client in
                let upstream = RawConnection(try LoopbackPort.connected(to: port), index: 0)
                let drops: @Sendable () -> Bool = { client.index == 0 && isFrozen.withLock { $0 } }
                startThread {
                    var count = 0
                    while let bytes = try? upstream.read(upTo: 65_536) {
                        count += bytes.count
                        if client.index == 0, count > limit { isFrozen.withLock { $0 = true } }
                        if !drops() { try? client.write(bytes) }
                    }
                    if !drops() { client.breakOff() }
                }
                while let bytes = try? client.read(upTo: 65_536) {
                    if !drops() { try? upstream.write(bytes) }
                }
                upstream.breakOff()
            }
        }
    }

    private func relayedNginx(freezesAfter limit: Int = .max) async throws -> (relay: Relay, transport: CurlTransport) {
        let nginx = try await Nginx.shared()
        let port = try #require(nginx.secure().split(separator: ":").last.flatMap { Int($0) })
        return (try Relay(to: port, freezesAfter: limit), CurlTransport(configuration: nginx.configuration))
    }

    /// The calls that are on the connection are lost, one for each stream; the next one is not.
    @Test("A connection with late responses and no received bytes is dropped", arguments: [1, 5])
    func firstByte(streams: Int) async throws {
        let (relay, transport) = try await relayedNginx()
        let first = try await transport.exchange(.get, relay.url + "/connection")
        #expect(first.version == .http2)
        relay.isFrozen.withLock { $0 = true }
        let timeouts = Timeouts(connect: .seconds(20), firstByte: .seconds(1), total: .seconds(30))
        await withTaskGroup(of: NetworkError.Reason?.self) { group in
            for _ in 0..<streams {
                group.addTask {
                    await transport.failure(.get, relay.url + "/connection", timeouts: timeouts)?.reason
                }
            }
            for await reason in group { #expect(reason == .timedOut(.firstByte)) }
        }
        let start = ContinuousClock.now
        for index in 0..<3 {
            let response = try await transport.exchange(
                .get, relay.url + "/connection", timeouts: Timeouts(firstByte: .seconds(20)))
            #expect(response.status == 200)
            guard index == 0 else { continue }
            // A few milliseconds, most of them for the handshake; a busy machine needs more.
            let time = ContinuousClock.now - start
            print("frozen connection, \(streams) streams: the next call took \(time)")
            #expect(time < .seconds(1))
        }
        #expect(relay.server.connectionCount == 2)
        await transport.shutdown()
    }

    @Test("A connection on which a body stops and nothing else comes is dropped")
    func idle() async throws {
        let (relay, transport) = try await relayedNginx(freezesAfter: 300_000)
        let response = try await transport.exchange(
            .get, relay.url + "/body.bin", timeouts: Timeouts(idle: .seconds(1))
        ) { $0.streaming = true }
        await #expect(throws: NetworkError.self) { try await response.data() }
        #expect(try await transport.exchange(.get, relay.url + "/connection").status == 200)
        #expect(relay.server.connectionCount == 2)
        await transport.shutdown()
    }

    /// Nothing may come because all of them wait for something slow.
    @Test("A late response does not end the other transfer of a connection", arguments: [true, false])
    func others(stirs: Bool) async throws {
        let certificates = try await Nginx.shared().certificates
        let server = try await onThread { try H2Server(certificates) }
        let tls = TransportConfiguration.TLS(trustedRoots: .file(certificates.authority))
        let transport = CurlTransport(configuration: TransportConfiguration(tls: tls))
        _ = try await transport.exchange(.get, server.url + "/ok").data()
        async let late = transport.failure(
            .get, server.url + "/1/silent", timeouts: Timeouts(firstByte: .milliseconds(1_200)))
        async let later = transport.failure(
            .get, server.url + "/2/silent", timeouts: Timeouts(firstByte: .milliseconds(2_400)))
        #expect(await eventually { transport.snapshot.active == 2 })
        while transport.snapshot.active > 1 {
            if stirs {
                _ = try await transport.exchange(.get, server.url + "/ok").data()
            } else {
                _ = await eventually(within: .milliseconds(50)) { transport.snapshot.active < 2 }
            }
        }
        let reasons = await [late?.reason, later?.reason]
        #expect(reasons == [.timedOut(.firstByte), .timedOut(.firstByte)])
        _ = try await transport.exchange(.get, server.url + "/ok").data()
        // In one case nothing had come for longer than a second when the last transfer was late.
        #expect(transport.snapshot.connectionsOpened == (stirs ? 1 : 2))
        await transport.shutdown()
    }
}
