// SPDX-License-Identifier: MIT

import CTestSupport
import Testing

@testable import CurlewCurl

/// Each phase ends in its own time. There is no other limit, so that only the one that is tested can end the exchange.
@Suite(.timeLimit(.minutes(1)))
struct DeadlineTests {
    let transport = CurlTransport()
    static let limit = Duration.milliseconds(200)

    private func only(_ phase: WritableKeyPath<Timeouts, Duration?>) -> Timeouts {
        var timeouts = Timeouts.none
        timeouts[keyPath: phase] = Self.limit
        return timeouts
    }

    /// Runs into `phase`, not before `limit`. Its lateness has a generous bound, because a busy machine delays
    /// everything; the transport itself is late by a few milliseconds.
    private func expectTimeout(
        _ phase: NetworkError.Phase, sourceLocation: SourceLocation = #_sourceLocation,
        _ work: (CountingObserver) async throws -> Void
    ) async throws {
        let observer = CountingObserver()
        let start = ContinuousClock.now
        let error = try await #require(throws: NetworkError.self, sourceLocation: sourceLocation) {
            try await work(observer)
        }
        let elapsed = await observer.firstEnd - start
        #expect(error.reason == .timedOut(phase), sourceLocation: sourceLocation)
        #expect(elapsed >= Self.limit - .milliseconds(5), sourceLocation: sourceLocation)
        #expect(elapsed < .seconds(40), sourceLocation: sourceLocation)
        expectTexts(error, sourceLocation: sourceLocation)
    }

    @Test("Connecting ends at its timeout")
    func connect() async throws {
        let crowded = try CrowdedPort()
        try await expectTimeout(.connect) { observer in
            _ = try await transport.exchange(.get, crowded.url, timeouts: only(\.connect), observers: [observer])
        }
    }

    @Test("The whole call ends at its timeout, also while its reader pauses")
    func total() async throws {
        let server = try MockServer.answering(.data(Data(count: 30_000_000)))
        try await expectTimeout(.total) { observer in
            let response = try await transport.exchange(
                .get, server.url + "/", timeouts: only(\.total), observers: [observer])
            try await SystemTime().sleep(for: Self.limit * 2)
            _ = try await response.bytes()
        }
    }

    @Test("Handles are counted right however their calls end")
    func handles() async throws {
        let nginx = try await Nginx.shared()
        let transport = CurlTransport(configuration: nginx.configuration)
        for _ in 0..<10 {
            // One is over before it begins; libcurl refuses the other.
            _ = try? await transport.exchange(.get, nginx.secure() + "/empty", timeouts: Timeouts(total: .zero))
            let host = String(repeating: "a", count: 70_000)
            _ = try? await transport.exchange(.get, "https://\(host).invalid/")
        }
        #expect(transport.snapshot.handles <= 1)
        _ = try await transport.exchange(.get, nginx.secure() + "/empty").data()
        // The response has no body, so its caller may go on before the handle is released.
        let kept = CurlLibrary.current.keepsFreedFields ? 0 : 1
        #expect(await eventually { transport.snapshot.handles == kept })
        await transport.shutdown()
        #expect(transport.snapshot.handles == 0)
    }
}

/// What does not count as standing still.
@Suite(.timeLimit(.minutes(1)))
struct PatienceTests {
    let transport = CurlTransport(configuration: TransportConfiguration(bodyBuffer: 16_384))

    @Test("An upload that makes progress for longer than the first-byte timeout arrives")
    func longUpload() async throws {
        // Slow until the first-byte limit is long over, then fast, because what the system has taken is sent as far as
        // the engine can see.
        let size = 40_000_000
        let server = try RawServer(receiveBuffer: 16_384) { connection in
            _ = try connection.readHead()
            let end = ContinuousClock.now + .milliseconds(1300)
            var left = size
            while ContinuousClock.now < end, left > 10_000_000 {
                left -= try connection.read(100_000).count
                try connection.pause(10)
            }
            _ = try connection.read(left)
            try connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            connection.waitUntilClosed()
        }
        let response = try await transport.exchange(
            .put, server.url + "/", body: .bytes(Data(count: size)), timeouts: Timeouts(firstByte: .seconds(1)))
        #expect(response.status == .ok)
    }

    @Test("A producer slower than every timeout delays its upload, and nothing else")
    func slowProducer() async throws {
        let server = try MockServer()
        server.on(.put, "/") { .text($0.text) }
        let body = RequestBody.stream { .init(Pausing(chunks: 3, pause: .milliseconds(300))) }
        let response = try await transport.exchange(
            .put, server.url + "/", body: body,
            timeouts: Timeouts(firstByte: .milliseconds(200), idle: .milliseconds(200)))
        #expect(try await response.text() == "...")
    }
}

/// A chunk, a pause, a chunk.
struct Pausing: AsyncSequence, Sendable {
    let chunks: Int
    let pause: Duration

    func makeAsyncIterator() -> Iterator { Iterator(left: chunks, pause: pause) }

    struct Iterator: AsyncIteratorProtocol {
        var left: Int
        let pause: Duration

        mutating func next() async throws -> Data? {
            guard left > 0 else { return nil }
            left -= 1
            try await SystemTime().sleep(for: pause)
            return Data(".".utf8)
        }
    }
}
