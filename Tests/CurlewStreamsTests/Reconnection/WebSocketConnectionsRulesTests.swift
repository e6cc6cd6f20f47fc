// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewStreams

@Suite(.timeLimit(.minutes(1)))
struct WebSocketConnectionsRulesTests {
    private struct Refused: Error {}

    @Test(
        "The sequence connects again after these close codes of the server",
        arguments: [1001, 1011, 1012, 1013, 1014] as [UInt16])
    func transientCodes(code: UInt16) async throws {
        let server = PeerServer()
        var sockets = server.client().webSocketConnections(.get("/"), options: .quiet()).makeAsyncIterator()
        let socket = try #require(try await sockets.next())
        try await server.next().close(WebSocketCloseCode(rawValue: code), reason: "later")
        let error = await socket.rest().error
        #expect(socket.closing?.code.rawValue == code && socket.closing?.reason == "later")
        #expect((error == nil) == (code == 1001))
        let second = try #require(try await sockets.next())
        #expect(second !== socket && second.closing == nil)
        #expect(server.requests == 2)
    }

    @Test(
        "The sequence ends at these close codes of the server",
        arguments: [1000, 1002, 1003, 1005, 1007, 1008, 1009, 1010, 3000, 3999, 4000, 4001, 4999] as [UInt16])
    func finalCodes(code: UInt16) async throws {
        let server = PeerServer()
        var sockets = server.client().webSocketConnections(.get("/"), options: .quiet()).makeAsyncIterator()
        let socket = try #require(try await sockets.next())
        let peer = try await server.next()
        try peer.send("last words")
        peer.close(WebSocketCloseCode(rawValue: code))
        let (messages, error) = await socket.rest()
        #expect(messages == [.text("last words")])
        if code == 1000 || code == 1005 {
            #expect(error == nil)
            #expect(try await sockets.next() == nil)
        } else {
            #expect(error?.detail.contains("\(code)") == true)
            let last = await #expect(throws: NetworkError.self) { try await sockets.next() }
            #expect(last == error)
        }
        #expect(try await sockets.next() == nil)
        #expect(server.requests == 1)
    }

    @Test("The sequence connects again after these statuses", arguments: [408, 429, 500, 502, 503, 504, 599])
    func transientStatuses(status: Int) async throws {
        let server = PeerServer(refusals: [.status(HTTPStatus(status))])
        var sockets = server.client().webSocketConnections(.get("/"), options: .quiet()).makeAsyncIterator()
        #expect(try await sockets.next() != nil)
        #expect(server.requests == 2)
    }

    @Test("The sequence ends at these statuses", arguments: [200, 302, 400, 401, 403, 404, 426])
    func finalStatuses(status: Int) async throws {
        let server = PeerServer(refusals: [.text("no", status: HTTPStatus(status))])
        var sockets = server.client().webSocketConnections(.get("/"), options: .quiet()).makeAsyncIterator()
        let error = await #expect(throws: NetworkError.self) { try await sockets.next() }
        #expect(status == 200 ? error?.reason == .badResponse : error?.statusCode == status)
        #expect(try await sockets.next() == nil)
        #expect(server.requests == 1)
    }

    @Test("A lost connection is followed by another one, after its messages were read")
    func lostConnection() async throws {
        let server = PeerServer()
        var sockets = server.client().webSocketConnections(.get("/"), options: .quiet()).makeAsyncIterator()
        for number in 1...3 {
            let socket = try #require(try await sockets.next())
            let peer = try await server.next()
            try peer.send("\(number)")
            peer.lose()
            let (messages, error) = await socket.rest()
            #expect(messages == [.text("\(number)")])
            #expect(error?.reason == .connectionLost(.requestMayHaveArrived))
        }
        #expect(server.requests == 3)
    }

    @Test("The sequence waits for Retry-After")
    func retryAfter() async throws {
        let clock = ManualClock()
        let server = PeerServer(refusals: [.status(.serviceUnavailable, headers: [.retryAfter: "90"])])
        let reader = server.client(on: clock).webSocketConnections(.get("/"), options: .quiet()).readAll()
        defer { reader.cancel() }
        try await clock.waitForSleepers(1)
        clock.advance(by: .milliseconds(89_999))
        #expect(clock.sleeperCount(.pauses) == 1 && server.requests == 1)
        clock.advance(by: .milliseconds(1))
        _ = try await server.next()
    }

    @Test("The bound of the random wait doubles up to its maximum, also after accepted connections")
    func backoff() async throws {
        let bounds = [1.0, 2, 4, 4, 4]
        var longest = Array(repeating: Duration.zero, count: bounds.count)
        for _ in 0..<40 {
            let (server, clock) = (PeerServer(), PauseLog())
            let options = WebSocket.Connections.Options.quiet { $0.maximumDelay = .seconds(4) }
            let reader = server.client(on: clock).webSocketConnections(.get("/"), options: options).readAll()
            for _ in bounds { try await server.next().close(.goingAway) }
            _ = try await server.next()
            #expect(clock.pauses.count == bounds.count)
            for (index, pause) in clock.pauses.enumerated() {
                #expect(pause >= .zero && pause <= .seconds(bounds[index]))
                longest[index] = max(longest[index], pause)
            }
            reader.cancel()
        }
        // Each fails with a probability of 2^-40.
        for (index, bound) in bounds.enumerated() { #expect(longest[index] > .seconds(bound / 2)) }
    }

    @Test("Connections that end at once wait longer and longer", arguments: 0..<10 as Range<UInt64>)
    func neverMoves(seed: UInt64) async throws {
        let (clock, random, count) = (PauseLog(), Locked(SeededGenerator(seed: seed)), Locked(0))
        let mock = MockTransport.answering { _ in
            count.withLock { $0 += 1 }
            return switch random.withLock({ Int.random(in: 0..<6, using: &$0) }) {
            case 0: .status(.serviceUnavailable)
            case 1: throw NetworkError(.unreachable)
            case 2: .webSocket { $0.lose() }
            case 3: .webSocket { $0.close(.goingAway) }
            case 4: .webSocket { $0.close(.init(rawValue: 1012)) }
            default:
                .webSocket { peer in
                    try peer.send("hello")
                    peer.lose()
                }
            }
        }
        let options = WebSocket.Connections.Options.quiet {
            ($0.maximumFailures, $0.retryDelay) = (60, .zero)
        }
        let reader = APIClient.mock(mock, configuration: .init(time: clock))
            .webSocketConnections(.get("/"), options: options) { _ in
                if random.withLock({ Int.random(in: 0..<4, using: &$0) }) == 0 { throw Refused() }
            }.readAll()
        await #expect(throws: NetworkError.self) { try await reader.value }
        clock.expectBackoff(of: 60, from: 0.1, to: 60)
        #expect(count.withLock { $0 } == 61)
    }

    @Test("After a connection that was open for 10 s, the failures count from one", arguments: [false, true])
    func stableConnection(isStable: Bool) async throws {
        let (server, clock) = (PeerServer(), PauseLog())
        let options = WebSocket.Connections.Options.quiet { $0.maximumFailures = 1 }
        var sockets = server.client(on: clock).webSocketConnections(.get("/"), options: options).makeAsyncIterator()
        for _ in 0..<2 {
            let socket = try #require(try await sockets.next())
            clock.advance(by: isStable ? .seconds(10) : .milliseconds(9999))
            try await server.next().lose()
            _ = await socket.rest()
        }
        if isStable {
            #expect(try await sockets.next() != nil)
        } else {
            #expect(await failureReason { try await sockets.next() } == .connectionLost(.requestMayHaveArrived))
        }
    }

    @Test("Too many consecutive failures end the sequence with the last error", arguments: [2, 10])
    func maximumFailures(limit: Int) async throws {
        let server = PeerServer(refusals: (0..<20).map { _ in .status(.badGateway) })
        let options = WebSocket.Connections.Options.quiet { if limit != 10 { $0.maximumFailures = limit } }
        var sockets = server.client().webSocketConnections(.get("/"), options: options).makeAsyncIterator()
        let error = await #expect(throws: NetworkError.self) { try await sockets.next() }
        #expect(error?.statusCode == 502)
        #expect(server.requests == limit + 1)
    }

    @Test("A server that closes each connection normally is a failure too")
    func maximumFailuresWithoutError() async throws {
        let server = PeerServer()
        let options = WebSocket.Connections.Options.quiet { $0.maximumFailures = 1 }
        let reader = server.client().webSocketConnections(.get("/"), options: options).readAll()
        for _ in 0..<2 { try await server.next().close(.goingAway) }
        #expect(await failureReason { try await reader.value } == .connectionLost(.requestNotSent))
    }

    @Test("Without a limit, failures go on")
    func noMaximum() async throws {
        let server = PeerServer(refusals: (0..<100).map { _ in .status(.badGateway) })
        let options = WebSocket.Connections.Options.quiet { $0.maximumFailures = nil }
        var sockets = server.client().webSocketConnections(.get("/"), options: options).makeAsyncIterator()
        #expect(try await sockets.next() != nil)
        #expect(server.requests == 101)
    }

    @Test("An error of the hook is a failed attempt, and its connection is closed")
    func hookFails() async throws {
        let (server, clock, count) = (PeerServer(), PauseLog(), Locked(0))
        let connections = server.client(on: clock).webSocketConnections(.get("/"), options: .quiet()) { socket in
            let number = count.next()
            try await socket.send("subscribe \(number)")
            if number < 3 { throw Refused() }
        }
        var sockets = connections.makeAsyncIterator()
        let socket = try #require(try await sockets.next())
        try await socket.send("hello")
        // The scripts of the peers begin in any order.
        var texts: Set<[String]> = []
        for _ in 1...3 {
            let peer = try await server.next()
            let received = try await peer.texts(2)
            texts.insert(received)
            if received.count == 1 { #expect(peer.clientClosing?.code == .goingAway) }
        }
        #expect(texts == [["subscribe 1"], ["subscribe 2"], ["subscribe 3", "hello"]], "The hook's error ends them.")
        #expect(clock.pauses.count == 2)
    }

    @Test("A hook that always fails ends the sequence with its error")
    func hookAlwaysFails() async throws {
        let server = PeerServer()
        let options = WebSocket.Connections.Options.quiet { $0.maximumFailures = 3 }
        var sockets = server.client().webSocketConnections(.get("/"), options: options) { _ in throw Refused() }
            .makeAsyncIterator()
        let error = await #expect(throws: NetworkError.self) { try await sockets.next() }
        #expect(error?.underlying is Refused)
        #expect(server.requests == 4)
    }

    @Test("A code of the server while the hook runs decides, not the hook's error")
    func serverRefusesInHook() async throws {
        let server = PeerServer()
        let reader = server.client().webSocketConnections(.get("/"), options: .quiet()) { socket in
            for try await _ in socket {}
        }.readAll()
        try await server.next().close(.init(rawValue: 4401), reason: "no")
        let error = await #expect(throws: NetworkError.self) { try await reader.value }
        #expect(error?.detail.contains("4401") == true)
        #expect(server.requests == 1)
    }

    @Test("The hook has a time limit")
    func hookTimeout() async throws {
        let (server, clock) = (PeerServer(), ManualClock())
        let options = WebSocket.Connections.Options.quiet { $0.maximumFailures = 0 }
        let reader = server.client(on: clock).webSocketConnections(.get("/"), options: options) { socket in
            for try await _ in socket {}
        }.readAll()
        _ = try await server.next()
        try await clock.waitForSleepers(1, .limits)
        clock.advance(by: .milliseconds(29_999))
        for _ in 0..<100 { await Task.yield() }
        #expect(clock.sleeperCount(.limits) == 1)
        clock.advance(by: .milliseconds(1))
        #expect(await failureReason { try await reader.value } == .timedOut(.total))
    }
}
