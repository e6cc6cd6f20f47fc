// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import CurlewTesting
import TestFixtures
import Testing

@testable import CurlewStreams

@Suite("The end of a WebSocket that connects again", .timeLimit(.minutes(1)))
struct ReconnectingWebSocketClosingTests {
    /// What the socket waits for.
    enum Phase: CaseIterable {
        case opening, hook, open, pause, reader
    }

    /// How the socket ends.
    enum End: CaseIterable {
        case close, cancelledClose, release
    }

    /// Notices its release.
    private final class Canary: Sendable {
        let isReleased: Locked<Bool>

        init(_ isReleased: Locked<Bool>) { self.isReleased = isReleased }

        deinit { isReleased.withLock { $0 = true } }
    }

    @Test(
        "The socket ends in every state, hands back its messages once and releases everything",
        arguments: Phase.allCases, End.allCases)
    func ends(phase: Phase, end: End) async throws {
        let (clock, log, isReleased, never) = (ManualClock(), LossLog(), Locked(false), AsyncStream<Never>.makeStream())
        let server = PeerServer()
        let reached = Locked(false)
        var client = server.client(on: clock)
        if phase == .opening {
            let mock = MockTransport.answering { [never = never.stream] _ in
                reached.withLock { $0 = true }
                for await _ in never {}
                throw CancellationError()
            }
            client = .mock(mock, configuration: APIClient.Configuration(time: clock))
        }
        var socket: ReconnectingWebSocket? = {
            let canary = Canary(isReleased)
            return client.reconnectingWebSocket(.get("/"), options: .quiet()) { socket in
                _ = canary
                guard phase == .hook else { return }
                reached.withLock { $0 = true }
                for try await _ in socket {}
                throw CancellationError()
            } onLoss: {
                log.add($0)
            }
        }()
        switch phase {
        case .opening, .hook: try await yieldUntil { reached.withLock { $0 } }
        case .open: try await socket?.wait { $0 == .open }
        case .pause:
            try await server.next().lose()
            try await clock.waitForSleepers(1)
        case .reader:
            for _ in 0..<2 {
                let peer = try await server.next()
                try peer.send("unread")
                peer.lose()
                try await clock.waitForSleepers(1)
                clock.advance(by: .seconds(2))
            }
            for _ in 0..<100 { await Task.yield() }
        }
        if phase != .open { try await socket?.send("waits") }
        let earlier = log.losses.count
        switch end {
        case .close: await socket?.close()
        case .cancelledClose:
            let closing = Task { [socket] in await socket?.close() }
            closing.cancel()
            await closing.value
        case .release: break
        }
        if end != .release {
            #expect(socket?.state == .closed(nil))
            let error = await #expect(throws: NetworkError.self) { try await socket?.send("late") }
            #expect(error?.reason == .connectionLost(.requestNotSent))
            var messages = socket?.makeAsyncIterator()
            #expect(try await messages?.next() == nil)
        }
        socket = nil
        try await yieldUntil { isReleased.withLock { $0 } }
        #expect(log.losses.dropFirst(earlier).map(\.isFinal) == [true])
        #expect(log.losses.last?.error?.isCancelled != false)
        #expect(log.losses.last?.unsent.texts == (phase == .open ? [] : ["waits"]))
        #expect(log.losses.flatMap(\.unacknowledged).isEmpty)
        #expect(clock.sleeperCount == 0, "No timer remains.")
        never.continuation.finish()
    }

    @Test("A socket that is released closes its connection with 1001")
    func released() async throws {
        let server = PeerServer()
        var socket: ReconnectingWebSocket? = server.client().reconnectingWebSocket(.get("/"), options: .quiet())
        let peer = try await server.next()
        try await socket?.wait { $0 == .open }
        socket = nil
        #expect(try await peer.next() == nil)
        #expect(peer.clientClosing?.code == .goingAway)
        #expect(server.requests == 1)
    }

    @Test("The states end with the socket")
    func statesEnd() async throws {
        let server = PeerServer()
        var socket: ReconnectingWebSocket? = server.client().reconnectingWebSocket(.get("/"), options: .quiet())
        let states = try #require(socket).states
        await socket?.close()
        socket = nil
        var last: ReconnectingWebSocket.State?
        for await state in states { last = state }
        #expect(last == .closed(nil))
    }

    @Test("Several tasks close the socket, and each returns at its end")
    func closedTwice() async throws {
        let (server, log) = (PeerServer(), LossLog())
        let socket = server.client().reconnectingWebSocket(.get("/"), options: .quiet(), onLoss: { log.add($0) })
        _ = try await server.next()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<10 {
                group.addTask {
                    await socket.close()
                    #expect(socket.state == .closed(nil))
                }
            }
        }
        #expect(log.losses.map(\.isFinal) == [true])
    }
}
