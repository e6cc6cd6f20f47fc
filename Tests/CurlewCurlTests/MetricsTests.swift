// SPDX-License-Identifier: MIT

import Testing

/// What an exchange cost, and how it is reported.
@Suite(.timeLimit(.minutes(1)))
struct MetricsTests {
    let transport = CurlTransport()

    @Test("Times fit together and bytes are counted", arguments: [MockServer.AddressFamily.ipv4, .ipv6])
    func plausible(address: MockServer.AddressFamily) async throws {
        var configuration = MockServer.Configuration()
        configuration.address = address
        let server = try MockServer(configuration)
        server.on(.post, "/", respond: .generated(bytes: 10_000).delayed(by: .milliseconds(50)))
        let start = ContinuousClock.now
        let response = try await transport.exchange(.post, server.url + "/", body: .bytes(Data(count: 5000)))
        let elapsed = ContinuousClock.now - start
        let metrics = response.metrics
        let total = try #require(metrics.total)
        #expect(total <= elapsed && total >= .milliseconds(50))
        let firstByte = try #require(metrics.firstByte)
        #expect(firstByte >= .milliseconds(45) && firstByte <= total)
        let phases = [metrics.nameLookup, metrics.connect, metrics.secureConnect, metrics.firstByte, metrics.transfer]
        #expect(phases.allSatisfy { $0.map { $0 >= .zero } ?? false })
        #expect(phases.compactMap { $0 }.reduce(.zero, +) <= total)
        #expect(metrics.secureConnect == .zero)
        #expect((5000..<5500).contains(metrics.bytesSent ?? 0))
        #expect((10_000..<10_500).contains(metrics.bytesReceived ?? 0))
        #expect(metrics.remoteAddress.map { "http://" + $0 } == server.url)
    }

    @Test("A connection is used again, and the metrics say so")
    func reuse() async throws {
        let server = try MockServer.always(.text("ok"))
        for index in 0..<4 {
            let metrics = try await transport.exchange(.get, server.url + "/").metrics
            #expect(metrics.reusedConnection == (index > 0))
            #expect(metrics.connectionsOpened == (index > 0 ? 0 : 1))
            if index > 0 { #expect(metrics.connect == .zero && metrics.nameLookup == .zero) }
        }
        #expect(server.connectionCount == 1)
        server.enqueue(.text("bye").closing())
        #expect(try await transport.exchange(.get, server.url + "/").metrics.reusedConnection == true)
        #expect(try await transport.exchange(.get, server.url + "/").metrics.reusedConnection == false)
        #expect(server.connectionCount == 2)
    }

    @Test("A decoded body keeps its size on the wire")
    func wireSize() async throws {
        let bytes = try await Program.encode(Data(count: 50_000), "gzip")
        let server = try MockServer.answering(MockResponse(headers: [.contentEncoding: "gzip"], body: .data(bytes)))
        let response = try await transport.exchange(.get, server.url + "/")
        #expect(try await response.data().count == 50_000)
        #expect(response.metrics.bytesReceived ?? .max < 1000)
    }

    @Test(
        "Observers receive the final cost of each exchange once",
        arguments: ["small", "streamed", "broken", "refused"])
    func measured(kind: String) async throws {
        let server = try MockServer()
        switch kind {
        case "streamed": server.enqueue(.generated(bytes: 300_000))
        case "broken": server.enqueue(.generated(bytes: 300_000).truncated(after: 200_000))
        default: server.enqueue(.generated(bytes: 3000))
        }
        let (socket, refusing) = try LoopbackPort.refusing()
        defer { close(socket) }
        let observer = RecordingObserver()
        let url = kind == "refused" ? "http://127.0.0.1:\(refusing)/" : server.url + "/"
        let result = await outcome(
            Task { try await transport.exchange(.get, url, observers: [observer]).data() })
        #expect((result.reason == nil) == (kind == "small" || kind == "streamed"))
        #expect(await eventually { observer.events.count == 1 })
        let metrics = try #require(observer.events.first)
        #expect(metrics.reusedConnection == (kind == "refused" ? nil : false))
        let received = metrics.bytesReceived ?? -1
        switch kind {
        case "small": #expect((3000..<3500).contains(received))
        case "streamed": #expect((300_000..<300_500).contains(received))
        case "broken": #expect((200_000..<200_500).contains(received))
        default: #expect(received == 0 && metrics.bytesSent == 0)
        }
    }
}
