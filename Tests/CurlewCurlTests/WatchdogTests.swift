// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import CurlewTesting
import Foundation
import TestServers
import Testing

@testable import CurlewCurl

/// An engine whose thread is held by somebody else's code.
@Suite(.timeLimit(.minutes(1)))
struct WatchdogTests {
    /// Holds the engine's thread for downloads, as a disk that does not answer does.
    private final class Blocker: BodySink {
        let holds = Signal()
        let mayGoOn = Signal()

        func write(_ bytes: UnsafeRawBufferPointer) throws(NetworkError) {
            holds.fire()
            mayGoOn.block()
        }
    }

    /// For that thread.
    private func saved(_ options: inout RequestOptions) {
        options.streaming = true
        options.savesBody = true
    }

    @Test("what waits for an engine that stands still ends with an error, and it goes on when it can")
    func heldEngine() async throws {
        let transport = CurlTransport(configuration: TransportConfiguration(stallLimit: .seconds(2)))
        let server = try MockServer()
        server.on(.get, "/", respond: .text("ok"))
        server.on(.get, "/silent", respond: MockResponse().stalled(at: .beforeHead))
        server.on(.get, "/body", respond: .generated(bytes: 200_000).stalled(at: .afterBytes(100_000)))
        let blocker = Blocker()
        let body = try await transport.exchange(.get, server.url + "/body", timeouts: .none, options: saved).body
        let reading = Task { try await body.collect() }
        let waiting = Task {
            try await transport.exchange(.get, server.url + "/silent", timeouts: .none, options: saved)
        }
        #expect(await eventually { transport.snapshot.active == 2 })
        // More than fits into the buffer, so that the engine writes.
        server.on(.get, "/large", respond: .generated(bytes: 20_000_000))
        let held = try await transport.exchange(.get, server.url + "/large", timeouts: .none, options: saved).body
        let writing = Task { try await held.drain(into: blocker) }
        await blocker.holds.wait()
        let start = ContinuousClock.now
        let late = Task { try await transport.exchange(.get, server.url + "/", timeouts: .none, options: saved) }

        for reason in [await outcome(waiting).reason, await outcome(reading).reason, await outcome(late).reason] {
            #expect(reason == .timedOut(.engine))
        }
        let time = ContinuousClock.now - start
        #expect(time > .milliseconds(1400) && time < .seconds(30))
        let error = try await #require(throws: NetworkError.self) {
            try await transport.exchange(.get, server.url + "/", timeouts: .none, options: saved)
        }
        #expect(error.reason == .timedOut(.engine))
        expectTexts(error)

        blocker.mayGoOn.fire()
        _ = await outcome(writing)
        #expect(await eventually { transport.snapshot.active == 0 })
        #expect(try await transport.exchange(.get, server.url + "/", options: saved).text() == "ok")
    }

    @Test("an engine that waits for slow servers and readers does not stand still")
    func patience() async throws {
        let transport = CurlTransport(
            configuration: TransportConfiguration(stallLimit: .seconds(2), bodyBuffer: 16_384))
        let server = try MockServer()
        server.on(.get, "/", respond: .text("ok").delayed(by: .milliseconds(3500)))
        server.on(.get, "/body", respond: .data(Data(count: 10_000_000)))
        let held = try await transport.exchange(.get, server.url + "/body")
        #expect(try await transport.exchange(.get, server.url + "/").text() == "ok")
        #expect(try await held.data().count == 10_000_000)
    }

    @Test("the second thread is gone when nothing is in flight")
    func idle() async throws {
        let server = try MockServer()
        server.on(.get, "/", respond: .text("ok"))
        let transport = CurlTransport(configuration: TransportConfiguration(stallLimit: .seconds(2)))
        for _ in 0..<20 { _ = try await transport.exchange(.get, server.url + "/").text() }
        #expect(await eventually { Engine.threads(named: "curlew-watchdog") == 0 })
        #expect(try await transport.exchange(.get, server.url + "/").text() == "ok")
        // The thread names itself when it runs.
        #expect(await eventually { Engine.threads(named: "curlew-watchdog") == 1 })
    }

    @Test("the decision: so many looks without a turn, said once")
    func decision() {
        var watch = StallWatch()
        let moving = (0..<12).map { watch.look(turns: UInt64($0)) }
        let standing = (0..<8).map { _ in watch.look(turns: 11) }
        let after = (0..<5).map { _ in watch.look(turns: 12) }
        #expect(moving == Array(repeating: false, count: 12))
        #expect(standing == [false, false, false, true, false, false, false, false])
        #expect(after == [false, false, false, false, true])
    }
}
