// SPDX-License-Identifier: MIT

import CurlewAuthentication
import CurlewCore
import CurlewHTTP
import CurlewTesting
import Foundation
import TestFixtures
import Testing

@testable import CurlewStreams

@Suite("A WebSocket that connects again", .timeLimit(.minutes(1)))
struct ReconnectingWebSocketTests {
    private struct Line: Codable, Equatable {
        let text: String
    }

    @Test("The hook runs on each connection before anything else is sent, and the order of messages is kept")
    func hookComesFirst() async throws {
        let (server, clock) = (PeerServer(), ManualClock())
        // The test does not advance the clock to the second ping, which the second message may need.
        let options = ReconnectingWebSocket.Options.quiet { $0.pingInterval = .zero }
        let socket = server.client(on: clock).reconnectingWebSocket(.get("/"), options: options) { socket in
            try await socket.send("subscribe")
            try await socket.send("filter")
        }
        try await socket.send("a")
        try await socket.send("b")
        var peer = try await server.next()
        #expect(try await peer.texts(4) == ["subscribe", "filter", "a", "b"])
        try await socket.waitForAcknowledgement()
        peer.lose()
        try await clock.waitForSleepers(1)
        #expect(socket.state.isWaiting)
        for text in ["c", "d", "e"] { try await socket.send(text) }
        clock.advance(by: .seconds(1))
        peer = try await server.next()
        #expect(try await peer.texts(5) == ["subscribe", "filter", "c", "d", "e"])
        #expect(socket.state == .open)
        await socket.close()
    }

    @Test("The sequence has the messages of all connections in order, typed by choice")
    func messagesOfAllConnections() async throws {
        let server = PeerServer()
        let socket = server.client().reconnectingWebSocket(.get("/"), options: .quiet())
        let lines = socket.messages(as: Line.self)
        let reader = Task {
            var texts: [String] = []
            for try await line in lines { texts.append(line.text) }
            return texts
        }
        for connection in 0..<3 {
            let peer = try await server.next()
            for number in 0..<5 { try peer.send("{\"text\":\"\(connection).\(number)\"}") }
            if connection == 2 { peer.close(.normal) } else { peer.lose() }
        }
        let texts = try await reader.value
        #expect(texts == (0..<3).flatMap { connection in (0..<5).map { "\(connection).\($0)" } })
        try await socket.wait { $0 == .closed(nil) }
        let error = await #expect(throws: NetworkError.self) { try await socket.send(json: Line(text: "late")) }
        #expect(error?.reason == .connectionLost(.requestNotSent))
    }

    @Test("Values are encoded")
    func valuesAreEncoded() async throws {
        let server = PeerServer()
        let socket = server.client().reconnectingWebSocket(.get("/"), options: .quiet())
        try await socket.send(json: Line(text: "hello"))
        #expect(try await server.next().texts(1) == [#"{"text":"hello"}"#])
        await socket.close()
    }

    @Test("The hook may receive messages, which the sequence does not contain")
    func hookReceives() async throws {
        let server = PeerServer()
        let socket = server.client().reconnectingWebSocket(.get("/"), options: .quiet()) { socket in
            try await socket.send("hello")
            var messages = socket.makeAsyncIterator()
            _ = try await messages.next()
        }
        let peer = try await server.next()
        #expect(try await peer.texts(1) == ["hello"])
        try peer.send("welcome")
        try peer.send("news")
        var messages = socket.makeAsyncIterator()
        #expect(try await messages.next() == .text("news"))
        await socket.close()
    }

    @Test("Each connection has the credentials of its time")
    func credentials() async throws {
        let (server, tokens) = (PeerServer(), Locked(0))
        let client = server.client(pipeline: [
            .bearer {
                let number = tokens.withLock { count in
                    count += 1
                    return count
                }
                return "token-\(number)"
            }
        ])
        let socket = client.reconnectingWebSocket(.get("/"), options: .quiet())
        try await server.next().lose()
        _ = try await server.next()
        let fields = client.recordedCalls.map { $0.request.headers[.authorization] }
        #expect(fields == ["Bearer token-1", "Bearer token-2"])
        await socket.close()
    }

    @Test("The states are visible in order")
    func states() async throws {
        let (server, clock) = (PeerServer(), ManualClock())
        let socket = server.client(on: clock).reconnectingWebSocket(.get("/"), options: .quiet())
        let states = Task { [states = socket.states] in
            var names: [String] = []
            for await state in states {
                let name =
                    switch state {
                    case .connecting: "connecting"
                    case .open: "open"
                    case .waiting(let until, let error):
                        until <= clock.date.addingTimeInterval(1) && error != nil ? "waiting" : "wrong"
                    case .closed(let error): error == nil ? "closed" : "wrong"
                    }
                names.append(name)
                if case .closed = state { break }
            }
            return names
        }
        let peer = try await server.next()
        try await socket.wait { $0 == .open }
        peer.lose()
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(1))
        _ = try await server.next()
        try await socket.wait { $0 == .open }
        await socket.close()
        #expect(await states.value.suffix(5) == ["open", "waiting", "connecting", "open", "closed"])
    }

    @Test("A restart connects at once, whatever the socket waits for")
    func restart() async throws {
        let (server, clock, log) = (PeerServer(), ManualClock(), LossLog())
        let socket = server.client(on: clock).reconnectingWebSocket(
            .get("/"), options: .quiet(), onLoss: { log.add($0) })
        var peer = try await server.next()
        try peer.send("one")
        // A message that has not arrived is lost with its connection.
        var messages = socket.makeAsyncIterator()
        #expect(try await messages.next() == .text("one"))
        socket.restart()
        peer = try await server.next()
        #expect(log.losses.map(\.failures) == [0])
        peer.lose()
        try await clock.waitForSleepers(1)
        socket.restart()
        peer = try await server.next()
        try peer.send("two")
        #expect(try await messages.next() == .text("two"))
        await socket.close()
        socket.restart()
        #expect(socket.state == .closed(nil))
    }

    @Test("While messages of two lost connections are unread, the socket does not connect again")
    func unreadMessagesAreBounded() async throws {
        let server = PeerServer()
        let socket = server.client().reconnectingWebSocket(.get("/"), options: .quiet())
        for number in 0..<2 {
            let peer = try await server.next()
            try peer.send("\(number)")
            peer.lose()
        }
        try await socket.wait { $0.isWaiting }
        for _ in 0..<1000 { await Task.yield() }
        #expect(server.requests == 2)
        var messages = socket.makeAsyncIterator()
        #expect(try await messages.next() == .text("0"))
        try await server.next().send("2")
        #expect(try await messages.next() == .text("1"))
        #expect(try await messages.next() == .text("2"))
        await socket.close()
    }

    @Test("A network that dies silently is noticed by the heartbeat")
    func heartbeat() async throws {
        let (server, clock, log) = (PeerServer(), ManualClock(), LossLog())
        let socket = server.client(on: clock).reconnectingWebSocket(.get("/"), onLoss: { log.add($0) })
        let peer = try await server.next()
        peer.repliesToPings = false
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(30))
        try await yieldUntil { clock.sleeperCount(.limits) > 0 }
        clock.advance(by: .seconds(10))
        try await log.wait(for: 1)
        #expect(log.losses.first?.error?.reason == .timedOut(.idle))
        await socket.close()
    }

    @Test("A cancelled reader ends, and the socket stays open")
    func cancelledReader() async throws {
        let server = PeerServer()
        let socket = server.client().reconnectingWebSocket(.get("/"), options: .quiet())
        for phase in 0..<2 {
            let reader = Task {
                var messages = socket.makeAsyncIterator()
                return try await messages.next()
            }
            if phase == 1 { try await socket.wait { $0 == .open } }
            for _ in 0..<20 { await Task.yield() }
            reader.cancel()
            let error = await #expect(throws: NetworkError.self) { try await reader.value }
            #expect(error?.isCancelled == true)
        }
        try await server.next().send("hello")
        var messages = socket.makeAsyncIterator()
        #expect(try await messages.next() == .text("hello"))
        await socket.close()
        #expect(try await messages.next() == nil)
    }
}
