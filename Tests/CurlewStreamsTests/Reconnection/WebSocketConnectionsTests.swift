// SPDX-License-Identifier: MIT

import CurlewAuthentication
import Testing

@testable import CurlewStreams

@Suite(.timeLimit(.minutes(1)))
struct WebSocketConnectionsTests {
    /// What the reader waits for.
    enum Phase: CaseIterable {
        case opening, hook, open, pause
    }

    @Test("The hook runs on each connection before anything else is sent")
    func hookComesFirst() async throws {
        let server = PeerServer()
        let connections = server.client().webSocketConnections(.get("/"), options: .quiet()) { socket in
            try await socket.send("subscribe")
            try await socket.send("filter")
        }
        var sockets = connections.makeAsyncIterator()
        for text in ["a", "b", "c"] {
            let socket = try #require(try await sockets.next())
            try await socket.send(text)
            let peer = try await server.next()
            #expect(try await peer.texts(3) == ["subscribe", "filter", text])
            peer.lose()
            _ = await socket.rest()
        }
    }

    @Test("The hook may receive messages, which the loop does not receive")
    func hookReceives() async throws {
        let server = PeerServer()
        let connections = server.client().webSocketConnections(.get("/"), options: .quiet()) { socket in
            try await socket.send("hello")
            var messages = socket.makeAsyncIterator()
            _ = try await messages.next()
        }
        let reader = Task {
            for try await socket in connections {
                for try await message in socket { return message }
            }
            return .text("nothing")
        }
        let peer = try await server.next()
        #expect(try await peer.texts(1) == ["hello"])
        try peer.send("welcome")
        try peer.send("news")
        #expect(try await reader.value == .text("news"))
    }

    @Test("Each connection has the credentials of its time")
    func credentials() async throws {
        let (server, tokens) = (PeerServer(), Locked(0))
        let client = server.client(pipeline: [
            .bearer {
                let number = tokens.next()
                return "token-\(number)"
            }
        ])
        let reader = client.webSocketConnections(.get("/"), options: .quiet()).readAll()
        try await server.next().lose()
        _ = try await server.next()
        let fields = client.recordedCalls.map { $0.request.headers[.authorization] }
        #expect(fields == ["Bearer token-1", "Bearer token-2"])
        reader.cancel()
    }

    @Test("A 401 of the handshake renews the credentials, without a pause")
    func refreshedCredentials() async throws {
        let (server, clock, store) = (PeerServer(refusals: [.status(.unauthorized)]), PauseLog(), TokenStore())
        try await store.signIn(Tokens(accessToken: "old", refreshToken: "refresh"))
        let client = server.client(on: clock, pipeline: [.bearer(store) { _ in Tokens(accessToken: "new") }])
        var sockets = client.webSocketConnections(.get("/"), options: .quiet()).makeAsyncIterator()
        #expect(try await sockets.next() != nil)
        let fields = client.recordedCalls.map { $0.request.headers[.authorization] }
        #expect(fields == ["Bearer old", "Bearer new"])
        #expect(clock.pauses.isEmpty)
    }

    @Test("A connection that the reader leaves is closed with 1001, and the next one waits")
    func leftConnection() async throws {
        let (server, clock) = (PeerServer(), PauseLog())
        let options = WebSocket.Connections.Options.quiet { $0.maximumFailures = 3 }
        var sockets = server.client(on: clock).webSocketConnections(.get("/"), options: options).makeAsyncIterator()
        var peers: [MockWebSocket] = []
        for number in 0...3 {
            let socket = try #require(try await sockets.next())
            #expect(clock.pauses.count == number)
            let peer = try await server.next()
            try peer.send("one")
            try peer.send("two")
            for try await _ in socket { break }
            peers.append(peer)
        }
        #expect(await failureReason { try await sockets.next() } == .connectionLost(.requestNotSent))
        #expect(try await sockets.next() == nil)
        for peer in peers {
            #expect(try await peer.next() == nil)
            #expect(peer.clientClosing?.code == .goingAway)
        }
    }

    @Test("A close by the caller ends the sequence, also after the loss of the connection", arguments: [false, true])
    func closedByCaller(isLost: Bool) async throws {
        let server = PeerServer()
        var sockets = server.client().webSocketConnections(.get("/"), options: .quiet()).makeAsyncIterator()
        let socket = try #require(try await sockets.next())
        let peer = try await server.next()
        if isLost {
            peer.lose()
            #expect(await socket.rest().error != nil)
        }
        await socket.close(.init(rawValue: 4000), reason: "done")
        #expect(await socket.rest().messages.isEmpty)
        #expect(try await sockets.next() == nil)
        #expect(try await sockets.next() == nil)
        #expect(server.requests == 1)
        if !isLost { #expect(peer.clientClosing?.code.rawValue == 4000) }
    }

    @Test("A close in another task ends the loop, even if the server does not reply")
    func closedElsewhere() async throws {
        let (server, clock, opened) = (PeerServer(), ManualClock(), AsyncStream<WebSocket>.makeStream())
        let connections = server.client(on: clock).webSocketConnections(.get("/"), options: .quiet())
        let reader = Task {
            for try await socket in connections {
                opened.continuation.yield(socket)
                _ = await socket.rest()
            }
        }
        var sockets = opened.stream.makeAsyncIterator()
        await sockets.next()?.close()
        try await reader.value
        #expect(server.requests == 1)
    }

    @Test(
        "A hook that closes its connection ends the sequence, with its error if it throws one",
        arguments: [false, true])
    func closedByHook(isThrown: Bool) async throws {
        struct Refused: Error {}
        let server = PeerServer()
        let reader = server.client().webSocketConnections(.get("/"), options: .quiet()) { socket in
            await socket.close()
            if isThrown { throw Refused() }
        }.readAll()
        if isThrown {
            let error = await #expect(throws: NetworkError.self) { try await reader.value }
            #expect(error?.underlying is Refused)
        } else {
            try await reader.value
        }
        #expect(server.requests == 1)
    }

    @Test(
        "Cancellation ends the sequence, whatever its reader waits for, and closes the connection",
        arguments: Phase.allCases)
    func cancellation(phase: Phase) async throws {
        let (server, clock, reached) = (PeerServer(), ManualClock(), Locked(false))
        let never = AsyncStream<Never>.makeStream()
        var client = server.client(on: clock)
        if phase == .opening {
            let mock = MockTransport.answering { [never = never.stream] _ in
                reached.withLock { $0 = true }
                for await _ in never {}
                throw CancellationError()
            }
            client = .mock(mock, configuration: .init(time: clock))
        }
        let connections = client.webSocketConnections(.get("/"), options: .quiet()) { socket in
            guard phase == .hook else { return }
            reached.withLock { $0 = true }
            for try await _ in socket {}
            throw CancellationError()
        }
        let reader = Task {
            for try await socket in connections {
                if phase == .open { reached.withLock { $0 = true } }
                _ = await socket.rest()
            }
        }
        let peer = phase == .opening ? nil : try await server.next()
        if phase == .pause {
            peer?.lose()
            try await clock.waitForSleepers(1)
        } else {
            try await yieldUntil { reached.withLock { $0 } }
        }
        reader.cancel()
        let error = await #expect(throws: NetworkError.self) { try await reader.value }
        #expect(error?.isCancelled == true)
        if phase == .hook || phase == .open {
            #expect(try await peer?.next() == nil)
            #expect(peer?.clientClosing?.code == .goingAway)
        }
        #expect(server.requests <= 1)
        try await yieldUntil { clock.sleeperCount == 0 }
        never.continuation.finish()
    }

    @Test("A sequence that is released closes its connection with 1001")
    func released() async throws {
        let server = PeerServer()
        do {
            var sockets = server.client().webSocketConnections(.get("/"), options: .quiet()).makeAsyncIterator()
            _ = try await sockets.next()
        }
        let peer = try await server.next()
        #expect(try await peer.next() == nil)
        #expect(peer.clientClosing?.code == .goingAway)
        #expect(server.requests == 1)
    }

    @Test("Nothing is sent before the first connection; each iteration has its own connections")
    func iterations() async throws {
        let server = PeerServer()
        let connections = server.client().webSocketConnections(.get("/"), options: .quiet())
        var iterators = (connections.makeAsyncIterator(), connections.makeAsyncIterator())
        #expect(server.requests == 0)
        let first = try #require(try await iterators.0.next())
        let second = try #require(try await iterators.1.next())
        #expect(server.requests == 2)
        await first.close()
        #expect(try await iterators.0.next() == nil)
        try await second.send("still open")
        let peers = [try await server.next(), try await server.next()]
        let texts = [try await peers[0].texts(1), try await peers[1].texts(1)]
        #expect(Set(texts) == [[], ["still open"]])
    }

    @Test("A network that dies silently is noticed by the heartbeat")
    func heartbeat() async throws {
        let (server, clock) = (PeerServer(), ManualClock())
        var sockets = server.client(on: clock).webSocketConnections(.get("/")).makeAsyncIterator()
        let socket = try #require(try await sockets.next())
        try await server.next().repliesToPings = false
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(30))
        try await yieldUntil { clock.sleeperCount(.limits) > 0 }
        clock.advance(by: .seconds(10))
        #expect(await socket.rest().error?.reason == .timedOut(.idle))
        let pause = Task { try await yieldUntil { clock.advanceToNextSleeper() != nil } }
        #expect(try await sockets.next() != nil)
        try await pause.value
    }
}
