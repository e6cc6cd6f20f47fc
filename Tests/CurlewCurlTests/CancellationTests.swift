// SPDX-License-Identifier: MIT

import CTestSupport
import CurlewCore
import CurlewCurl
import CurlewHTTP
import CurlewTesting
import Foundation
import TestServers
import Testing

/// Cancelling the task ends an exchange at once in every phase, and the transport continues.
///
/// "At once" has a generous bound here, because a busy machine delays everything: what is waited for never comes.
@Suite(.timeLimit(.minutes(1)))
struct CancellationTests {
    let transport = CurlTransport(configuration: TransportConfiguration(bodyBuffer: 16_384))
    private let observer = CountingObserver()

    /// Starts `work`, cancels it when `isThere` is true, and expects the end of it without delay.
    private func expectCancelled(
        when isThere: () async -> Bool, sourceLocation: SourceLocation = #_sourceLocation,
        _ work: @escaping @Sendable () async throws -> Void
    ) async throws {
        let task = Task { try await work() }
        #expect(await isThere(), "the phase was not reached", sourceLocation: sourceLocation)
        let start = ContinuousClock.now
        task.cancel()
        let reason = await outcome(task).reason
        let elapsed = await observer.firstEnd - start
        #expect(reason == .cancelled, sourceLocation: sourceLocation)
        #expect(elapsed < .seconds(20), sourceLocation: sourceLocation)

        let server = try MockServer()
        server.enqueue(.text("still there"))
        #expect(try await transport.exchange(.get, server.url + "/").text() == "still there")
        // The event comes when the caller has gone on.
        #expect(await eventually { observer.measured == 1 }, sourceLocation: sourceLocation)
        #expect(observer.repeated == 0, sourceLocation: sourceLocation)
    }

    @Test("during the name lookup")
    func lookup() async throws {
        let name = "cancelled.hangs.test"
        defer { hanging_lookup_release(name) }
        try await expectCancelled(when: { await eventually { hanging_lookup_count(name) == 1 } }) {
            [transport, observer] in
            _ = try await transport.exchange(.get, "http://\(name)/", timeouts: .none, observers: [observer])
        }
    }

    @Test("connecting")
    func connecting() async throws {
        let port = try CrowdedPort()
        // Nothing announces the attempt: long enough for the agent to have begun it.
        try await expectCancelled(when: { (try? await SystemTime().sleep(for: .milliseconds(50))) != nil }) {
            [transport, observer] in
            _ = try await transport.exchange(.get, port.url, timeouts: .none, observers: [observer])
        }
    }

    @Test("connecting leaves no connection behind, and the snapshot counts none")
    func connectionCount() async throws {
        let port = try CrowdedPort()
        let tasks = (0..<10).map { _ in Task { [transport] in _ = try await transport.exchange(.get, port.url) } }
        #expect(await eventually { transport.snapshot.connections == 10 })
        tasks.forEach { $0.cancel() }
        for task in tasks { #expect(await outcome(task).reason == .cancelled) }
        #expect(await eventually { transport.snapshot.connections == 0 })
    }

    @Test("waiting for a connection that others use")
    func queued() async throws {
        let transport = CurlTransport(configuration: TransportConfiguration(connectionsPerHost: 1))
        let server = try MockServer()
        server.on(.get, "/held", respond: MockResponse().stalled(at: .beforeHead))
        let held = Task { try await transport.exchange(.get, server.url + "/held") }
        try await server.waitForRequests(count: 1, timeout: .seconds(40))
        try await expectCancelled(when: { (try? await SystemTime().sleep(for: .milliseconds(50))) != nil }) {
            [observer] in
            _ = try await transport.exchange(.get, server.url + "/", timeouts: .none, observers: [observer])
        }
        held.cancel()
        #expect(await outcome(held).reason == .cancelled)
    }

    @Test("in the middle of the head, and of a small body", arguments: ["HTTP/1.1 200 OK\r\nA: b\r\n", "full head"])
    func partialAnswer(head: String) async throws {
        let (sent, closed) = (Signal(), Signal())
        let server = try RawServer { connection in
            _ = try connection.readHead()
            try connection.write(head == "full head" ? "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf" : head)
            sent.fire()
            connection.waitUntilClosed()
            closed.fire()
        }
        try await expectCancelled(when: {
            await sent.wait(); return true
        }) { [transport, observer] in
            _ = try await transport.exchange(.get, server.url + "/", timeouts: .none, observers: [observer]).data()
        }
        await closed.wait()
    }

    @Test("after the end nothing changes")
    func afterwards() async throws {
        let server = try MockServer()
        server.enqueue(.generated(bytes: 200_000))
        let finished = Signal()
        let mayRead = Signal()
        let task = Task { [transport, observer] in
            let response = try await transport.exchange(.get, server.url + "/", timeouts: .none, observers: [observer])
            let data = try await response.data()
            finished.fire()
            await mayRead.wait()
            response.body.cancel()
            return data
        }
        await finished.wait()
        task.cancel()
        mayRead.fire()
        #expect(try await task.value.count == 200_000)
        #expect(await eventually { observer.measured == 1 })
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
