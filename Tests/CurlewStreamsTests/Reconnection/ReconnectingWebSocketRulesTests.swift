// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import CurlewTesting
import Foundation
import TestFixtures
import Testing

@testable import CurlewStreams

@Suite("When a WebSocket connects again", .timeLimit(.minutes(1)))
struct ReconnectingWebSocketRulesTests {
    private struct Refused: Error {}

    @Test(
        "The close codes of the server after which the socket connects again",
        arguments: [1001, 1011, 1012, 1013, 1014] as [UInt16])
    func transientCodes(code: UInt16) async throws {
        let (server, log) = (PeerServer(), LossLog())
        let socket = server.client().reconnectingWebSocket(.get("/"), options: .quiet(), onLoss: { log.add($0) })
        try await server.next().close(WebSocketCloseCode(rawValue: code), reason: "later")
        _ = try await server.next()
        let loss = try #require(log.losses.first)
        #expect(loss.closing?.code.rawValue == code && loss.closing?.reason == "later" && !loss.isFinal)
        #expect((loss.error == nil) == (code == 1001))
        await socket.close()
    }

    @Test(
        "The close codes of the server that end the socket",
        arguments: [1000, 1002, 1003, 1005, 1007, 1008, 1009, 1010, 3000, 3999, 4000, 4001, 4999] as [UInt16])
    func finalCodes(code: UInt16) async throws {
        let (server, log) = (PeerServer(), LossLog())
        let socket = server.client().reconnectingWebSocket(.get("/"), options: .quiet(), onLoss: { log.add($0) })
        let peer = try await server.next()
        try peer.send("last words")
        peer.close(WebSocketCloseCode(rawValue: code))
        try await socket.wait { $0.isClosed }
        var messages = socket.makeAsyncIterator()
        #expect(try await messages.next() == .text("last words"))
        if code == 1000 || code == 1005 {
            #expect(try await messages.next() == nil)
            #expect(socket.state == .closed(nil))
        } else {
            let error = await #expect(throws: NetworkError.self) { try await messages.next() }
            #expect(error?.detail.contains("\(code)") == true)
            #expect(socket.state == .closed(error))
        }
        #expect(log.losses.map(\.isFinal) == [true])
        #expect(server.requests == 1)
    }

    @Test("Statuses after which the socket connects again", arguments: [408, 429, 500, 502, 503, 504, 599])
    func transientStatuses(status: Int) async throws {
        let (server, log) = (PeerServer(refusals: [.status(HTTPStatus(status))]), LossLog())
        let socket = server.client().reconnectingWebSocket(.get("/"), options: .quiet(), onLoss: { log.add($0) })
        _ = try await server.next()
        #expect(log.losses.map(\.error?.statusCode) == [status])
        await socket.close()
    }

    @Test("Statuses that end the socket", arguments: [200, 302, 400, 401, 403, 404, 426])
    func finalStatuses(status: Int) async throws {
        let server = PeerServer(refusals: [.text("no", status: HTTPStatus(status))])
        let socket = server.client().reconnectingWebSocket(.get("/"), options: .quiet())
        let error = await #expect(throws: NetworkError.self) { for try await _ in socket {} }
        #expect(status == 200 ? error?.reason == .badResponse : error?.statusCode == status)
        let refusal = await #expect(throws: NetworkError.self) { try await socket.send("late") }
        #expect(refusal == error)
        #expect(server.requests == 1)
    }

    @Test("The caller changes the rules")
    func override() async throws {
        let server = PeerServer(refusals: [.status(.forbidden)])
        let options = ReconnectingWebSocket.Options.quiet {
            $0.reconnects = { loss in loss.error?.statusCode == 403 || loss.closing?.code.rawValue == 4000 }
        }
        let socket = server.client().reconnectingWebSocket(.get("/"), options: options)
        try await server.next().close(.init(rawValue: 4000))
        try await server.next().lose()
        await #expect(throws: NetworkError.self) { for try await _ in socket {} }
        #expect(server.requests == 3)
    }

    @Test("The socket waits for Retry-After, and shows it")
    func retryAfter() async throws {
        let clock = ManualClock()
        let server = PeerServer(refusals: [.status(.serviceUnavailable, headers: [.retryAfter: "90"])])
        let socket = server.client(on: clock).reconnectingWebSocket(.get("/"), options: .quiet())
        try await clock.waitForSleepers(1)
        guard case .waiting(let until, let error) = socket.state else {
            Issue.record("\(socket.state)")
            return
        }
        #expect(until == clock.date.addingTimeInterval(90) && error?.statusCode == 503)
        clock.advance(by: .milliseconds(89_999))
        #expect(clock.sleeperCount(.pauses) == 1 && server.requests == 1)
        clock.advance(by: .milliseconds(1))
        _ = try await server.next()
        await socket.close()
    }

    @Test("The bound of the wait doubles up to its maximum, and begins again after a stable connection")
    func backoff() async throws {
        let (server, clock, log) = (PeerServer(), ManualClock(), LossLog())
        let options = ReconnectingWebSocket.Options.quiet { $0.maximumDelay = .seconds(4) }
        let socket = server.client(on: clock).reconnectingWebSocket(
            .get("/"), options: options, onLoss: { log.add($0) })
        for (number, bound) in [1, 2, 4, 4, 4].enumerated() {
            let peer = try await server.next()
            try await socket.wait { $0 == .open }
            peer.lose()
            try await clock.waitForSleepers(1)
            guard case .waiting(let until, _) = socket.state else {
                Issue.record("\(socket.state)")
                return
            }
            #expect(until <= clock.date.addingTimeInterval(Double(bound)))
            #expect(log.losses.last?.failures == number + 1)
            clock.advance(by: .seconds(bound))
        }
        let peer = try await server.next()
        try await socket.wait { $0 == .open }
        clock.advance(by: .seconds(10))
        peer.lose()
        try await clock.waitForSleepers(1)
        #expect(log.losses.last?.failures == 1)
        await socket.close()
    }

    @Test("Too many consecutive failures close the socket with the last error")
    func maximumFailures() async throws {
        let server = PeerServer(refusals: (0..<5).map { _ in .status(.badGateway) })
        let options = ReconnectingWebSocket.Options.quiet { $0.maximumFailures = 2 }
        let socket = server.client().reconnectingWebSocket(.get("/"), options: options)
        let error = await #expect(throws: NetworkError.self) { for try await _ in socket {} }
        #expect(error?.statusCode == 502)
        #expect(server.requests == 3)
    }

    @Test("A server that closes each connection normally is a failure too")
    func maximumFailuresWithoutError() async throws {
        let server = PeerServer()
        let options = ReconnectingWebSocket.Options.quiet { $0.maximumFailures = 1 }
        let socket = server.client().reconnectingWebSocket(.get("/"), options: options)
        for _ in 0..<2 { try await server.next().close(.goingAway) }
        let error = await #expect(throws: NetworkError.self) { for try await _ in socket {} }
        #expect(error?.reason == .connectionLost(.requestNotSent))
    }

    @Test("An outage that is too long closes the socket")
    func maximumOutage() async throws {
        let clock = ManualClock()
        let server = PeerServer(
            refusals: [60, 60, 60].map { .status(.serviceUnavailable, headers: [.retryAfter: "\($0)"]) })
        let options = ReconnectingWebSocket.Options.quiet { $0.maximumOutage = .seconds(150) }
        let socket = server.client(on: clock).reconnectingWebSocket(.get("/"), options: options)
        for _ in 0..<2 {
            try await clock.waitForSleepers(1)
            clock.advance(by: .seconds(60))
        }
        let error = await #expect(throws: NetworkError.self) { for try await _ in socket {} }
        #expect(error?.statusCode == 503)
        #expect(server.requests == 3)
    }

    @Test("An error of the hook is a failed attempt, and its connection is closed")
    func hookFails() async throws {
        let (server, log, count) = (PeerServer(), LossLog(), Locked(0))
        let socket = server.client().reconnectingWebSocket(.get("/"), options: .quiet()) { socket in
            let number = count.withLock { count in
                count += 1
                return count
            }
            try await socket.send("subscribe \(number)")
            if number < 3 { throw Refused() }
        } onLoss: {
            log.add($0)
        }
        try await socket.send("waits")
        for number in 1...2 {
            let peer = try await server.next()
            #expect(try await peer.texts(2) == ["subscribe \(number)"], "The connection ends after the hook.")
            #expect(peer.clientClosing?.code == .goingAway)
        }
        #expect(try await server.next().texts(2) == ["subscribe 3", "waits"])
        #expect(log.losses.allSatisfy { $0.error?.underlying is Refused && $0.unacknowledged.isEmpty })
        #expect(log.losses.map(\.failures) == [1, 2])
        await socket.close()
    }

    @Test("A code of the server while the hook runs decides, not the hook's error")
    func serverRefusesInHook() async throws {
        let server = PeerServer()
        let socket = server.client().reconnectingWebSocket(.get("/"), options: .quiet()) { socket in
            for try await _ in socket {}
        }
        try await server.next().close(.init(rawValue: 4401), reason: "no")
        let error = await #expect(throws: NetworkError.self) { for try await _ in socket {} }
        #expect(error?.detail.contains("4401") == true)
        #expect(server.requests == 1)
    }

    @Test("The hook has a time limit")
    func hookTimeout() async throws {
        let (server, clock, log) = (PeerServer(), ManualClock(), LossLog())
        let socket = server.client(on: clock).reconnectingWebSocket(.get("/"), options: .quiet()) { socket in
            for try await _ in socket {}
        } onLoss: {
            log.add($0)
        }
        _ = try await server.next()
        try await clock.waitForSleepers(1, .limits)
        #expect(socket.state == .connecting)
        clock.advance(by: .seconds(30))
        try await log.wait(for: 1)
        #expect(log.losses[0].error?.reason == .timedOut(.total))
        await socket.close()
    }
}
