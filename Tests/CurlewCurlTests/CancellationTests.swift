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

    @Test("before it begins: nothing is sent")
    func beforeStart() async throws {
        let server = try MockServer()
        let task = Task { [transport] in
            withUnsafeCurrentTask { $0?.cancel() }
            return try await transport.exchange(.get, server.url + "/")
        }
        #expect(await outcome(task).reason == .cancelled)
        #expect(server.connectionCount == 0)
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

    @Test("in the middle of the TLS handshake")
    func handshake() async throws {
        let (greeted, closed) = (Signal(), Signal())
        let server = try RawServer { connection in
            _ = try connection.read(upTo: 100)
            greeted.fire()
            connection.waitUntilClosed()
            closed.fire()
        }
        try await expectCancelled(when: {
            await greeted.wait(); return true
        }) { [transport, observer] in
            _ = try await transport.exchange(
                .get, "https://127.0.0.1:\(server.port)/", timeouts: .none, observers: [observer])
        }
        await closed.wait()
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

    @Test("waiting for the head, with and without a body sent", arguments: [nil] + BodySource.allCases)
    func beforeHead(source: BodySource?) async throws {
        let server = try MockServer()
        server.on(.post, "/", respond: MockResponse().stalled(at: .beforeHead))
        let folder = try TemporaryFolder()
        let body = try source?.body(of: 100_000, in: folder) ?? .empty
        try await expectCancelled(when: { (try? await server.waitForRequests(count: 1, timeout: .seconds(40))) != nil })
        {
            [transport, observer] in
            _ = try await transport.exchange(
                .post, server.url + "/", body: body, timeouts: .none, observers: [observer])
        }
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

    @Test("waiting for more of a body, whether the reader or the sender is behind", arguments: [false, true])
    func body(pausesFirst: Bool) async throws {
        let (reading, closed) = (Signal(), Signal())
        let size = pausesFirst ? 100_000_000 : 150_000
        let server = try RawServer { connection in
            defer { closed.fire() }
            _ = try connection.readHead()
            try connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
            try connection.write(Data(count: pausesFirst ? size : 100_000))
            connection.waitUntilClosed()
        }
        try await expectCancelled(when: {
            await reading.wait(); return true
        }) { [transport, observer] in
            let response = try await transport.exchange(
                .get, server.url + "/", timeouts: .none, observers: [observer]
            ) { $0.streaming = true }
            if pausesFirst { try await SystemTime().sleep(for: .milliseconds(100)) }
            reading.fire()
            for try await _ in response.body where pausesFirst {
                // Cancellation is seen at the next chunk.
                await Signal().wait()
            }
        }
        await closed.wait()
    }

    @Test("while the reader does something else: the next read throws, nothing is delivered as complete")
    func betweenReads() async throws {
        let server = try MockServer()
        server.enqueue(.data(Data(count: 30_000_000)))
        try await expectCancelled(when: { await eventually { server.requestCount == 1 } }) { [transport, observer] in
            let response = try await transport.exchange(.get, server.url + "/", timeouts: .none, observers: [observer])
            await Signal().wait()
            _ = try await response.data()
        }
    }

    @Test("sending a body that the server does not read, or without data from its producer", arguments: [true, false])
    func upload(isProduced: Bool) async throws {
        let (begun, mayRead, closed) = (Signal(), Signal(), Signal())
        let server = try RawServer(receiveBuffer: 16_384) { connection in
            defer { closed.fire() }
            _ = try connection.readHead()
            begun.fire()
            mayRead.block()
            while true { _ = try connection.read(upTo: 65_536) }
        }
        let producer = Signal()
        let body =
            isProduced
            ? RequestBody.bytes(Data(count: 30_000_000)) : .stream { .init(Stuck(ended: producer)) }
        try await expectCancelled(when: {
            await begun.wait(); return true
        }) { [transport, observer] in
            _ = try await transport.exchange(.put, server.url + "/", body: body, timeouts: .none, observers: [observer])
        }
        mayRead.fire()
        await closed.wait()
        // The producer's task is cancelled with the exchange.
        if !isProduced { await producer.wait() }
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
