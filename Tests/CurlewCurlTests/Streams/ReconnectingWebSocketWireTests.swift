// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewCurl
import CurlewHTTP
import CurlewStreams
import TestServers
import Testing

/// A WebSocket that connects again, over real connections.
@Suite(.timeLimit(.minutes(1)))
struct ReconnectingWebSocketWireTests {
    private func client(_ server: WebSocketServer) -> APIClient {
        APIClient(baseURL: "http://127.0.0.1:\(server.port)", pipeline: [], transport: CurlTransport())
    }

    /// The numbers of the messages that the server has received over connections that it ended.
    private func journal(_ server: WebSocketServer) async throws -> [Int] {
        let socket = try await client(server).webSocket(.get("/journal"))
        var messages = socket.makeAsyncIterator()
        guard case .text(let text) = try await messages.next() else { return [] }
        return text.split(separator: "\n").compactMap { Int($0) }
    }

    @Test("Over connections that the server ends, every message arrives once or is handed back", arguments: [1, 3, 20])
    func nothingIsLostSilently(messagesOfAConnection: Int) async throws {
        let server = try await WebSocketServer.start()
        let handedBack = Locked<[WebSocketMessage]>([])
        var options = ReconnectingWebSocket.Options()
        options.outgoingMessages = 8
        options.retryDelay = .milliseconds(2)
        options.maximumDelay = .milliseconds(2)
        let socket = client(server).reconnectingWebSocket(
            .get("/flaky", query: ["n": messagesOfAConnection]), options: options,
            onLoss: { loss in
                handedBack.withLock { $0 += loss.unacknowledged + loss.unsent }
            })
        for number in 0..<100 { try await socket.send("\(number)") }
        await socket.close()
        let arrived = try await journal(server)
        #expect(arrived == arrived.sorted() && Set(arrived).count == arrived.count)
        let others = handedBack.withLock { $0 }.compactMap { message -> Int? in
            if case .text(let text) = message { Int(text) } else { nil }
        }
        #expect(Set(arrived + others) == Set(0..<100))
    }

    @Test("With resends, every message arrives in order over connections that the server ends")
    func resending() async throws {
        let server = try await WebSocketServer.start()
        var options = ReconnectingWebSocket.Options()
        options.retryDelay = .milliseconds(2)
        options.maximumDelay = .milliseconds(2)
        options.resends = { _ in true }
        let socket = client(server).reconnectingWebSocket(.get("/flaky", query: ["n": 7]), options: options)
        for number in 0..<100 { try await socket.send("\(number)") }
        var arrived: [Int] = []
        while !arrived.contains(99) { arrived = try await journal(server) }
        await socket.close()
        var first: [Int] = []
        for number in arrived where !first.contains(number) { first.append(number) }
        #expect(first == Array(0..<100))
    }

    @Test("After a restart of the service, the socket subscribes again")
    func serviceRestart() async throws {
        let server = try await WebSocketServer.start()
        var options = ReconnectingWebSocket.Options()
        options.retryDelay = .milliseconds(2)
        let codes = Locked<[UInt16]>([])
        let socket = client(server).reconnectingWebSocket(.get("/restart"), options: options) { socket in
            try await socket.send("subscribe")
        } onLoss: { loss in
            codes.withLock { $0 += loss.closing.map { [$0.code.rawValue] } ?? [] }
        }
        var messages = socket.makeAsyncIterator()
        for _ in 0..<3 { #expect(try await messages.next() == .text("news")) }
        await socket.close()
        #expect(codes.withLock { $0.prefix(2) } == [1012, 1012])
    }
}
