// SPDX-License-Identifier: MIT

import Testing

@Suite(.timeLimit(.minutes(1)))
struct MockServerFaultTests {
    private static let request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

    @Test("A reset before the request is read strikes an idle connection's next request")
    func resetOnReuse() throws {
        let server = try MockServer()
        server.on(.get, "/", respond: .text("ok"))
        let client = try RawClient(port: server.port)
        #expect(client.get("/").body == "ok")
        server.enqueue(.text("never").reset(at: .beforeRequestRead))
        #expect(client.send(Self.request).readToEnd().ending == .reset)
        #expect(server.requestCount == 1)
        #expect(try RawClient(port: server.port).get("/").body == "ok")
    }

    @Test("A truncated response declares everything and closes early", arguments: [0, 3])
    func truncated(count: Int) throws {
        let server = try MockServer()
        server.enqueue(.text("hello").truncated(after: count), .chunks(["hel", "lo"]).truncated(after: 3))
        let (text, ending) = try RawClient(port: server.port).send(Self.request).readToEnd()
        #expect(text.contains("Content-Length: 5\r\n"))
        #expect(text.hasSuffix("\r\n\r\n" + "hello".prefix(count)))
        #expect(ending == .orderly)
        let (chunks, _) = try RawClient(port: server.port).send(Self.request).readToEnd()
        #expect(chunks.hasSuffix("\r\n\r\n3\r\nhel\r\n"))
    }

    @Test("Raw bytes and malformed heads go out verbatim and the connection closes")
    func raw() throws {
        let server = try MockServer()
        server.enqueue(.raw(Data("not http".utf8)), .raw(Data("HTTP/1.1 abc\r\n\r\nx".utf8)))
        #expect(try RawClient(port: server.port).send(Self.request).readToEnd() == ("not http", .orderly))
        #expect(
            try RawClient(port: server.port).send(Self.request).readToEnd() == ("HTTP/1.1 abc\r\n\r\nx", .orderly))
    }

    @Test("A stale connection closes without a byte on its second exchange")
    func stale() throws {
        let server = try MockServer()
        server.on(.get, "/") { $0.exchangeIndex == 1 ? .closeBeforeReply : .text("ok") }
        let client = try RawClient(port: server.port)
        #expect(client.get("/").body == "ok")
        #expect(client.send(Self.request).readToEnd() == ("", .orderly))
        #expect(server.requestCount == 2)
    }

    @Test("A silent close does not announce itself")
    func silent() throws {
        let server = try MockServer()
        server.on(.get, "/", respond: .text("ok").closingSilently())
        let (text, ending) = try RawClient(port: server.port).send(Self.request).readToEnd()
        #expect(!text.contains("Connection:"))
        #expect(text.hasSuffix("ok"))
        #expect(ending == .orderly)
    }

    @Test("A delay comes before the head or between head and content")
    func delays() throws {
        let server = try MockServer()
        server.enqueue(
            .text("a").delayed(by: .milliseconds(40)), .text("b").delayed(by: .milliseconds(40), at: .body))
        let client = try RawClient(port: server.port)
        let start = ContinuousClock.now
        client.send(Self.request)
        _ = client.readHead()
        #expect(ContinuousClock.now - start >= .milliseconds(40))
        #expect(client.read(1) == "a")
        client.send(Self.request)
        _ = client.readHead()
        let head = ContinuousClock.now
        #expect(client.read(1) == "b")
        // The head was read up to a moment after it was sent, so less than the whole pause may be seen.
        #expect(ContinuousClock.now - head >= .milliseconds(5))
    }

    @Test("A delay of an hour ends when the server stops")
    func delayEnds() async throws {
        let server = try MockServer()
        server.on(.get, "/", respond: .text("late").delayed(by: .seconds(3600)))
        let client = try RawClient(port: server.port).send(Self.request)
        try await server.waitForRequests(count: 1)
        server.stop()
        #expect(client.readToEnd() == ("", .orderly))
    }

    @Test("A dripping body arrives complete, in pieces")
    func dripping() throws {
        let server = try MockServer()
        server.on(.get, "/", respond: .text("abcdefg").dripping(bytesPerChunk: 2, every: .milliseconds(5)))
        server.on(
            .get, "/chunks", respond: .chunks(["abc", "d"]).dripping(bytesPerChunk: 2, every: .zero).closing())
        let client = try RawClient(port: server.port)
        let start = ContinuousClock.now
        #expect(client.get("/").body == "abcdefg")
        #expect(ContinuousClock.now - start >= .milliseconds(15))
        let (text, _) = client.send("GET /chunks HTTP/1.1\r\nHost: x\r\n\r\n").readToEnd()
        #expect(text.hasSuffix("\r\n\r\n2\r\nab\r\n1\r\nc\r\n1\r\nd\r\n0\r\n\r\n"))
    }

    @Test("Informational heads go out before a delayed head")
    func hintsBeforeDelay() async throws {
        let server = try MockServer()
        server.enqueue(.text("x").after(.earlyHints).stalled(at: .beforeHead))
        let client = try RawClient(port: server.port).send(Self.request)
        #expect(client.readHead() == "HTTP/1.1 103 Early Hints\r\n\r\n")
        server.stop()
        #expect(client.readToEnd().text.isEmpty)
    }

    @Test(
        "Wrong framing is on the wire as given, and the connection closes",
        arguments: [
            (.contentLength(["9"]), "Content-Length: 9\r\n\r\nhello"),
            (.contentLength(["5", "6"]), "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello"),
            (.contentLength(["-1"]), "Content-Length: -1\r\n\r\nhello"),
            (.transferEncoding("gzip"), "Transfer-Encoding: gzip\r\n\r\nhello"),
            (
                .chunked(contentLength: ["2"]),
                "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
            ),
            (.chunkSize("xyz"), "Transfer-Encoding: chunked\r\n\r\nxyz\r\nhello\r\n0\r\n\r\n"),
            (.unendedChunks, "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"),
            (.untilClose, "Content-Type: text/plain; charset=utf-8\r\n\r\nhello"),
        ] as [(MockResponse.Framing, String)])
    func framing(framing: MockResponse.Framing, end: String) throws {
        let server = try MockServer()
        server.enqueue(.text("hello").framed(as: framing))
        let (text, ending) = try RawClient(port: server.port).send(Self.request).readToEnd()
        #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(text.hasSuffix("\r\n" + end))
        #expect(!text.contains("Connection:"))
        #expect(ending == .orderly)
    }

    @Test("A dripping response sends its head in pieces too", arguments: [false, true])
    func drippingHead(isRaw: Bool) throws {
        let server = try MockServer()
        let whole = MockResponse.text("abc").closing()
        let raw = MockResponse.raw(Data("HTTP/1.1 299 Odd\r\n\r\n".utf8))
        server.enqueue((isRaw ? raw : whole).dripping(bytesPerChunk: 1, every: .milliseconds(1), from: .head))
        let start = ContinuousClock.now
        let (text, ending) = try RawClient(port: server.port).send(Self.request).readToEnd()
        #expect(text.hasPrefix(isRaw ? "HTTP/1.1 299 Odd\r\n\r\n" : "HTTP/1.1 200 OK\r\n"))
        #expect(isRaw || text.hasSuffix("\r\n\r\nabc"))
        #expect(ContinuousClock.now - start >= .milliseconds(text.utf8.count))
        #expect(ending == .orderly)
    }
}
