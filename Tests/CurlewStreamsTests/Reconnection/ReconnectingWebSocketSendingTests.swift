// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import CurlewTesting
import TestFixtures
import Testing

@testable import CurlewStreams

@Suite("Sending over a WebSocket that connects again", .timeLimit(.minutes(1)))
struct ReconnectingWebSocketSendingTests {
    @Test("What was sent after the last pong is handed back, in order, and not sent again")
    func handedBack() async throws {
        let (server, log) = (PeerServer(), LossLog())
        let socket = server.client().reconnectingWebSocket(.get("/"), options: .quiet(), onLoss: { log.add($0) })
        var peer = try await server.next()
        try await socket.send("a")
        #expect(try await peer.texts(1) == ["a"])
        try await socket.waitForAcknowledgement()
        peer.repliesToPings = false
        try await socket.send("b")
        try await socket.send("c")
        #expect(try await peer.texts(2) == ["b", "c"])
        peer.lose()
        peer = try await server.next()
        #expect(log.losses.map(\.unacknowledged.texts) == [["b", "c"]])
        try await socket.send("d")
        #expect(try await peer.texts(1) == ["d"])
        await socket.close()
        #expect(log.losses.last?.isFinal == true)
        #expect(log.losses.last?.unacknowledged.isEmpty == true)
    }

    @Test("By choice, messages are sent again before those that wait")
    func resends() async throws {
        let (server, clock, log) = (PeerServer(), ManualClock(), LossLog())
        // The test does not advance the clock to the second ping, which a later message may need.
        let options = ReconnectingWebSocket.Options.quiet {
            $0.resends = { $0 != .text("once") }
            $0.pingInterval = .zero
        }
        let socket = server.client(on: clock).reconnectingWebSocket(
            .get("/"), options: options, onLoss: { log.add($0) })
        var peer = try await server.next()
        peer.repliesToPings = false
        for text in ["a", "once", "b"] { try await socket.send(text) }
        #expect(try await peer.texts(3) == ["a", "once", "b"])
        peer.lose()
        try await socket.wait { $0.isWaiting }
        try await socket.send("c")
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(1))
        peer = try await server.next()
        #expect(try await peer.texts(3) == ["a", "b", "c"])
        #expect(log.losses.map(\.unacknowledged.texts) == [["once"]])
        try await socket.waitForAcknowledgement()
        await socket.close()
    }

    @Test("The caller acknowledges by the content of messages")
    func callerAcknowledges() async throws {
        let (server, log) = (PeerServer(), LossLog())
        let options = ReconnectingWebSocket.Options.quiet { $0.acknowledgement = .caller }
        let socket = server.client().reconnectingWebSocket(.get("/"), options: options, onLoss: { log.add($0) })
        let peer = try await server.next()
        for text in ["1", "2", "3"] { try await socket.send(text) }
        #expect(try await peer.texts(3) == ["1", "2", "3"])
        try await yieldUntil { socket.core.outgoing.unacknowledged.count == 3 }
        socket.acknowledge { $0 == .text("2") }
        peer.lose()
        _ = try await server.next()
        #expect(log.losses.map(\.unacknowledged.texts) == [["1", "3"]])
        await socket.close()
    }

    @Test("Messages wait for a connection up to the limit; then send waits, in order, and can be cancelled")
    func boundedQueue() async throws {
        let (server, clock) = (PeerServer(refusals: [.status(.badGateway)]), ManualClock())
        let options = ReconnectingWebSocket.Options.quiet { $0.outgoingMessages = 2 }
        let socket = server.client(on: clock).reconnectingWebSocket(.get("/"), options: options)
        try await clock.waitForSleepers(1)
        try await socket.send("a")
        try await socket.send("b")
        let isSent = Locked(false)
        let cancelled = Task { try await socket.send("cancelled") }
        let third = Task {
            try await socket.send("c")
            isSent.withLock { $0 = true }
        }
        for _ in 0..<100 { await Task.yield() }
        cancelled.cancel()
        let error = await #expect(throws: NetworkError.self) { try await cancelled.value }
        #expect(error?.isCancelled == true)
        #expect(!isSent.withLock { $0 })
        clock.advance(by: .seconds(1))
        #expect(try await server.next().texts(3) == ["a", "b", "c"])
        try await third.value
        await socket.close()
    }

    @Test("The limit in bytes counts waiting and unacknowledged messages")
    func boundedBytes() async throws {
        let server = PeerServer()
        let options = ReconnectingWebSocket.Options.quiet { $0.outgoingBytes = 100 }
        let socket = server.client().reconnectingWebSocket(.get("/"), options: options)
        let peer = try await server.next()
        peer.repliesToPings = false
        let text = String(repeating: "x", count: 60)
        try await socket.send(text)
        try await socket.send(text)
        let third = Task { try await socket.send("third") }
        #expect(try await peer.texts(2) == [text, text])
        for _ in 0..<100 { await Task.yield() }
        #expect(socket.core.outgoing.unacknowledged.count == 2)
        peer.repliesToPings = true
        try await third.value
        #expect(try await peer.texts(1) == ["third"])
        await socket.close()
    }

    @Test("By choice, send throws while there is no connection, and nothing waits over a loss")
    func withoutQueue() async throws {
        let (server, clock, log) = (PeerServer(refusals: [.status(.badGateway)]), ManualClock(), LossLog())
        let options = ReconnectingWebSocket.Options.quiet {
            $0.queuesWhileDisconnected = false
            $0.outgoingMessages = 1
        }
        let socket = server.client(on: clock).reconnectingWebSocket(
            .get("/"), options: options, onLoss: { log.add($0) })
        try await clock.waitForSleepers(1)
        var error = await #expect(throws: NetworkError.self) { try await socket.send("early") }
        #expect(error?.reason == .connectionLost(.requestNotSent))
        clock.advance(by: .seconds(1))
        let peer = try await server.next()
        peer.repliesToPings = false
        try await socket.wait { $0 == .open }
        try await socket.send("sent")
        #expect(try await peer.texts(1) == ["sent"])
        let waiting = Task { try await socket.send("waits for room") }
        for _ in 0..<100 { await Task.yield() }
        peer.lose()
        error = await #expect(throws: NetworkError.self) { try await waiting.value }
        #expect(error?.reason == .connectionLost(.requestNotSent))
        try await log.wait(for: 2)
        #expect(log.losses[1].unacknowledged.texts == ["sent"] && log.losses[1].unsent.isEmpty)
        await socket.close()
    }

    @Test("Pings follow messages at most once in each interval, unless the outbox is half full")
    func pingInterval() async throws {
        let (server, clock) = (PeerServer(), ManualClock())
        let options = ReconnectingWebSocket.Options.quiet { $0.outgoingMessages = 10 }
        let socket = server.client(on: clock).reconnectingWebSocket(.get("/"), options: options)
        let peer = try await server.next()
        try await socket.send("a")
        #expect(try await peer.texts(1) == ["a"])
        try await socket.waitForAcknowledgement()
        for text in ["b", "c"] { try await socket.send(text) }
        #expect(try await peer.texts(2) == ["b", "c"])
        try await clock.waitForSleepers(1)
        clock.advance(by: .milliseconds(999))
        #expect(socket.core.outgoing.unacknowledged.count == 2)
        clock.advance(by: .milliseconds(1))
        try await socket.waitForAcknowledgement()
        for number in 0..<5 { try await socket.send("\(number)") }
        try await socket.waitForAcknowledgement()
        await socket.close()
    }

    @Test("close sends what waits, and waits for its acknowledgement")
    func closeFlushes() async throws {
        let (server, log) = (PeerServer(), LossLog())
        let socket = server.client(on: ManualClock()).reconnectingWebSocket(
            .get("/"), options: .quiet(), onLoss: { log.add($0) })
        let peer = try await server.next()
        try await socket.wait { $0 == .open }
        peer.repliesToPings = false
        for text in ["a", "b", "bye"] { try await socket.send(text) }
        let closing = Task { await socket.close(.init(rawValue: 4000), reason: "done") }
        #expect(try await peer.texts(3) == ["a", "b", "bye"])
        try await yieldUntil { socket.core.outgoing.unacknowledged.count == 3 }
        await #expect(throws: NetworkError.self) { try await socket.send("late") }
        #expect(peer.clientClosing == nil)
        peer.repliesToPings = true
        await closing.value
        #expect(peer.clientClosing?.code.rawValue == 4000 && peer.clientClosing?.reason == "done")
        #expect(log.losses.map(\.isFinal) == [true])
        #expect(log.losses[0].unacknowledged.isEmpty && log.losses[0].error == nil)
    }

    @Test("close hands back what is not acknowledged in time, and what was not sent")
    func closeHandsBack() async throws {
        let (server, clock, log) = (PeerServer(), ManualClock(), LossLog())
        let client = server.client(on: clock)
        var socket = client.reconnectingWebSocket(.get("/"), options: .quiet(), onLoss: { log.add($0) })
        let peer = try await server.next()
        try await socket.wait { $0 == .open }
        peer.repliesToPings = false
        try await socket.send("a")
        #expect(try await peer.texts(1) == ["a"])
        let closing = Task { [socket] in await socket.close() }
        try await clock.waitForSleepers(1, .limits)
        clock.advance(by: .seconds(5))
        await closing.value
        #expect(log.losses.map(\.unacknowledged.texts) == [["a"]])

        socket = client.reconnectingWebSocket(.get("/"), options: .quiet(), onLoss: { log.add($0) })
        try await server.next().lose()
        try await clock.waitForSleepers(1)
        try await socket.send("b")
        await socket.close()
        #expect(log.losses.last?.unsent.texts == ["b"] && log.losses.last?.isFinal == true)
        #expect(log.losses.last?.unacknowledged.isEmpty == true)
    }
}
