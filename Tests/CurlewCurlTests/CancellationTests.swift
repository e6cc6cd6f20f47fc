// SPDX-License-Identifier: MIT

import Testing

/// Cancelling the task ends an exchange at once, and the transport continues.
@Suite(.timeLimit(.minutes(1)))
struct CancellationTests {
    @Test("Cancelling while connecting leaves no connection, and the snapshot counts none")
    func connectionCount() async throws {
        let port = try CrowdedPort()
        let (transport, observer) = (CurlTransport(), CountingObserver())
        let tasks = (0..<10).map { _ in
            Task { _ = try await transport.exchange(.get, port.url, timeouts: .none, observers: [observer]) }
        }
        #expect(await eventually { transport.snapshot.connections == 10 })
        tasks.forEach { $0.cancel() }
        for task in tasks { #expect(await outcome(task).reason == .cancelled) }
        #expect(await eventually { transport.snapshot.connections == 0 })
        #expect(await eventually { observer.measured == 10 })
        #expect(observer.repeated == 0)
        let server = try MockServer.answering(.text("still there"))
        #expect(try await transport.exchange(.get, server.url + "/").text() == "still there")
    }
}

/// A producer that waits forever, and reports its cancellation.
struct Stuck: AsyncSequence, Sendable {
    let ended: Signal

    func makeAsyncIterator() -> Iterator { Iterator(ended: ended) }

    struct Iterator: AsyncIteratorProtocol {
        let ended: Signal

        mutating func next() async throws -> Data? {
            defer { ended.fire() }
            try await SystemTime().sleep(for: .seconds(50))
            return nil
        }
    }
}
