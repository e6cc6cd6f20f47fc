// SPDX-License-Identifier: MIT

import CurlewAuthentication
import CurlewStreams
import Testing

/// WebSocket calls over `MockTransport`.
@Suite(.timeLimit(.minutes(1)))
struct MockWebSocketTests {
    private struct Line: Codable, Equatable {
        let text: String
    }

    private func client(_ script: @escaping @Sendable (MockWebSocket) async throws -> Void) -> APIClient {
        APIClient.mock { mock in mock.on(.get, "/chat") { _ in .webSocket(subprotocol: "v1", script) } }
    }

    @Test func valuesAreEncodedAndDecoded() async throws {
        let client = client { peer in while let message = try await peer.next() { try peer.send(message) } }
        let socket = try await client.webSocket(.get("/chat"))
        #expect(socket.subprotocol == "v1")
        #expect(socket.response.status == 101)
        try await socket.send(json: Line(text: "hello"))
        var lines = socket.messages(as: Line.self).makeAsyncIterator()
        #expect(try await lines.next() == Line(text: "hello"))
        try await socket.send("no JSON")
        let error = await #expect(throws: NetworkError.self) { try await lines.next() }
        #expect(error?.reason == .decoding && error?.request?.url.hasSuffix("/chat") == true)
        #expect(error?.detail.hasPrefix("The message is not Line. ") == true)
        #expect(error?.response?.status == 101 && error?.response?.body == Data("no JSON".utf8))
        try await socket.send(Data("{\"error\":1}".utf8))
        lines = socket.messages(as: Line.self).makeAsyncIterator()
        let refusal = await #expect(throws: NetworkError.self) { try await lines.next() }
        #expect(refusal?.body(as: [String: Int].self) == ["error": 1])
        try await socket.send("still open")
        var messages = socket.makeAsyncIterator()
        #expect(try await messages.next() == .text("still open"))
        await socket.close()
    }

    @Test func theOpeningIsAnOrdinaryCall() async throws {
        let mock = MockTransport()
        mock.fail(.get, "/chat", .once, with: NetworkError(statusCode: 503))
        mock.on(.get, "/chat") { _ in .webSocket { try $0.send("open") } }
        let client = APIClient.mock(mock, pipeline: [.bearer { "secret-token" }])
        await #expect(throws: NetworkError.self) { try await client.webSocket(.get("/chat")) }
        #expect(await failureReason { try await client.webSocket(.post("/chat")) } == .invalidRequest)
        let socket = try await client.webSocket(.get("/chat"))
        var messages = socket.makeAsyncIterator()
        #expect(try await messages.next() == .text("open"))
        #expect(try await messages.next() == nil)
        let request = try #require(client.recordedCalls.last?.request)
        #expect(request.headers[.authorization] == "Bearer secret-token")
        #expect(request.headers["Sec-WebSocket-Version"] == "13")
        #expect(request.headers["Sec-WebSocket-Key"]?.utf8.count == 24)
        // The URLs of RFC 6455 §3, and a text that only begins like one.
        for url in ["wss://mock.test/chat?a=b", "WS://mock.test:81/chat", "wsx://mock.test/chat"] {
            let isOpen = await failureReason { try await client.webSocket(.get(url: url)) } == nil
            #expect(isOpen != url.hasPrefix("wsx"))
        }
        let urls = client.recordedCalls.suffix(2).map(\.request.urlString)
        #expect(urls == ["https://mock.test/chat?a=b", "http://mock.test:81/chat"])
    }

    @Test func noTimerRemainsOfASocketThatTheServerClosesAtOnce() async throws {
        let clock = ManualClock()
        let client = APIClient.mock(
            MockTransport.answering { _ in .webSocket { _ in } }, configuration: .init(time: clock))
        for _ in 0..<300 {
            let socket = try await client.webSocket(.get("/chat"))
            for try await _ in socket {}
        }
        try await yieldUntil { clock.sleeperCount == 0 }
    }

    @Test func aPongOverALinkOfMessagesIsASignOfLife() async throws {
        let clock = ManualClock()
        let client = APIClient.mock(
            MockTransport.answering { _ in
                .webSocket { peer in while let message = try await peer.next() { try peer.send(message) } }
            },
            configuration: .init(time: clock))
        let socket = try await client.webSocket(.get("/chat"))
        for _ in 0..<3 {
            try await clock.waitForSleepers(1)
            clock.advance(by: .seconds(30))
            try await clock.waitForSleepers(1, .limits)
            // The ping of the heartbeat runs beside its alarm.
            try await socket.ping()
            clock.advance(by: .seconds(10))
        }
        try await socket.send("still here")
        var messages = socket.makeAsyncIterator()
        #expect(try await messages.next() == .text("still here"))
        await socket.close()
    }

    @Test func aPingWaitsWhileTheMockSendsNoPongsAndThrowsAtTheEnd() async throws {
        let (peers, arrival) = AsyncStream<MockWebSocket>.makeStream()
        let client = client { peer in
            peer.repliesToPings = false
            arrival.yield(peer)
            while try await peer.next() != nil {}
        }
        let socket = try await client.webSocket(.get("/chat"))
        var iterator = peers.makeAsyncIterator()
        let peer = try #require(await iterator.next())
        let (isHere, first) = (Locked(false), Locked(false))
        let ping = Task {
            first.withLock { $0 = true }
            try await socket.ping()
            isHere.withLock { $0 = true }
        }
        try await yieldUntil { first.withLock { $0 } }
        for _ in 0..<50 { await Task.yield() }
        #expect(!isHere.withLock { $0 })
        peer.repliesToPings = true
        try await ping.value
        peer.repliesToPings = false
        let last = Task { try await socket.ping() }
        for _ in 0..<50 { await Task.yield() }
        peer.lose()
        await #expect(throws: NetworkError.self) { try await last.value }
        await #expect(throws: NetworkError.self) { try await socket.ping() }
    }

    @Test func aCancelledReaderEndsAndTheSocketStaysOpen() async throws {
        let client = client { peer in while let message = try await peer.next() { try peer.send(message) } }
        let socket = try await client.webSocket(.get("/chat"))
        let reader = Task {
            var messages = socket.makeAsyncIterator()
            return try await messages.next()
        }
        reader.cancel()
        let error = await #expect(throws: NetworkError.self) { try await reader.value }
        #expect(error?.isCancelled == true)
        try await socket.send("hello")
        var messages = socket.makeAsyncIterator()
        #expect(try await messages.next() == .text("hello"))
        await socket.close()
    }

    // MARK: What a script can do, beside messages

    @Test func bytesNeedAServer() async throws {
        let client = client { peer in
            #expect(thrownReason { try peer.sendRaw(Data([0x81, 0])) } == .configuration)
            try peer.ping()
            try peer.send(.text("after"), frameSize: 1)
            #expect(peer.frames.isEmpty && peer.violation == nil)
        }
        let socket = try await client.webSocket(.get("/chat"))
        var messages = socket.makeAsyncIterator()
        #expect(try await messages.next() == .text("after"))
        #expect(try await messages.next() == nil)
    }

    @Test func flushWaitsForTheClient() async throws {
        let sent = Locked(0)
        let client = client { peer in
            for number in 1...1000 {
                try peer.send("\(number)")
                try await peer.flush()
                sent.withLock { $0 = number }
            }
        }
        var options = WebSocket.Options()
        options.incomingMessages = 1
        let socket = try await client.webSocket(.get("/chat"), options: options)
        var count = 0
        for try await message in socket {
            count += 1
            #expect(message == .text("\(count)"))
            #expect(sent.withLock { $0 } <= count + 2)
        }
        #expect(count == 1000)
    }

    @Test func tooManyMessagesWait() async throws {
        let client = client { peer in
            for _ in 0..<100_000 { try peer.send("flood") }
        }
        var options = WebSocket.Options()
        options.incomingMessages = 1
        let socket = try await client.webSocket(.get("/chat"), options: options)
        #expect(await failureReason { for try await _ in socket {} } == .limitExceeded(.responseBody))
    }

    @Test func aStalledConnectionEndsWithTheClient() async throws {
        let ended = AsyncStream<Void>.makeStream()
        let client = client { peer in
            peer.lose(by: .stall)
            let message = try await peer.next()
            #expect(message == nil)
            ended.continuation.finish()
        }
        var options = WebSocket.Options()
        options.closeTimeout = .milliseconds(10)
        let socket = try await client.webSocket(.get("/chat"), options: options)
        for await _ in ended.stream {}
        await socket.close()
        var messages = socket.makeAsyncIterator()
        #expect(try await messages.next() == nil)
    }
}
