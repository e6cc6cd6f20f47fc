// SPDX-License-Identifier: MIT

import Testing

/// Places at which a response ends, in four ways.
@Suite(.timeLimit(.minutes(1)))
struct MockServerInterruptionTests {
    private static let request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
    private static let head =
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n"
    private static let half = String(decoding: head.utf8.dropLast(head.utf8.count / 2), as: UTF8.self)

    static let stages: [(MockResponse.Stage, String)] = [
        (.beforeRequestRead, ""), (.beforeHead, ""), (.insideHead, half),
        (.afterHead, head), (.afterBytes(0), head), (.afterBytes(3), head + "hel"), (.afterBytes(99), head + "hello"),
    ]

    @Test("A close delivers what came before, and the end of the stream", arguments: stages)
    func close(stage: MockResponse.Stage, sent: String) throws {
        let server = try MockServer()
        server.enqueue(.text("hello").interrupted(by: .close, at: stage), .text("next"))
        let client = try RawClient(port: server.port).send(Self.request)
        #expect(client.readToEnd() == (sent, .orderly))
        // It is the whole connection that has ended.
        #expect(client.send(Self.request).readToEnd().text.isEmpty)
        #expect(try RawClient(port: server.port).get("/").body == "next")
    }

    @Test(
        "A half-close ends the server's direction only, until the client closes the connection",
        arguments: stages)
    func halfClose(stage: MockResponse.Stage, sent: String) throws {
        var configuration = MockServer.Configuration()
        configuration.maximumConnections = 1
        let server = try MockServer(configuration)
        server.enqueue(.text("hello").interrupted(by: .halfClose, at: stage), .text("next"))
        let client = try RawClient(port: server.port).send(Self.request)
        #expect(client.readToEnd() == (sent, .orderly))
        // A closed connection would answer bytes with a reset; this one takes them.
        #expect(client.send("more").send("and more").readToEnd() == ("", .orderly))
        client.finish()
        // The only thread is free again.
        #expect(try RawClient(port: server.port).get("/").body == "next")
    }

    @Test("A reset delivers at most what came before", arguments: stages)
    func reset(stage: MockResponse.Stage, sent: String) throws {
        let server = try MockServer()
        server.enqueue(.text("hello").interrupted(by: .reset, at: stage))
        let (text, ending) = try RawClient(port: server.port).send(Self.request).readToEnd()
        #expect(ending == .reset)
        #expect(sent.hasPrefix(text))
    }

    @Test("A connection that ends without a request leaves the interruption to the next request")
    func unused() throws {
        let server = try MockServer()
        server.enqueue(.text("hello").interrupted(by: .reset, at: .beforeRequestRead))
        let idle = try RawClient(port: server.port)
        idle.finish()
        #expect(idle.readToEnd() == ("", .orderly))
        #expect(try RawClient(port: server.port).send(Self.request).readToEnd().ending == .reset)
    }

    @Test("A stall delivers what came before and then nothing, until the server stops", arguments: stages)
    func stall(stage: MockResponse.Stage, sent: String) async throws {
        let server = try MockServer()
        server.enqueue(.text("hello").interrupted(by: .stall, at: stage))
        let client = try RawClient(port: server.port).send(Self.request)
        if stage != .beforeRequestRead { try await server.waitForRequests(count: 1) }
        #expect(client.read(sent.utf8.count) == sent)
        server.stop()
        let (text, ending) = client.readToEnd()
        #expect(text.isEmpty)
        // What was never read is served by a reset when the connection goes.
        #expect(ending == .orderly || (ending == .reset && stage == .beforeRequestRead))
    }

    @Test("A request that is not read is not recorded; what was only interrupted later is", arguments: stages)
    func recording(stage: MockResponse.Stage, sent: String) throws {
        let server = try MockServer()
        server.enqueue(.text("hello").interrupted(by: .close, at: stage))
        _ = try RawClient(port: server.port).send(Self.request).readToEnd()
        #expect(server.requestCount == (stage == .beforeRequestRead ? 0 : 1))
    }

    @Test(
        "A stall ends when the client closes the connection",
        arguments: [MockResponse.Stage.beforeRequestRead, .beforeHead], [false, true])
    func stallEnds(stage: MockResponse.Stage, sendsMore: Bool) throws {
        var configuration = MockServer.Configuration()
        configuration.maximumConnections = 1
        let server = try MockServer(configuration)
        server.enqueue(.text("never").stalled(at: stage), .text("next"))
        let client = try RawClient(port: server.port).send(Self.request)
        if sendsMore { client.send(Self.request) }
        client.finish()
        #expect(try RawClient(port: server.port).get("/").body == "next")
    }
}

/// Responses that do not wait, and servers that count.
@Suite(.timeLimit(.minutes(1)))
struct MockServerEarlyAnswerTests {
    @Test("An early response comes before the content, which is then dropped")
    func early() throws {
        let server = try MockServer()
        server.enqueue(.text("early").early(), .text("next"))
        let client = try RawClient(port: server.port)
        client.send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n")
        #expect(client.response().body == "early")
        client.send("0123456789")
        #expect(client.get("/b").body == "next")
        #expect(server.requests.map(\.path) == ["/a", "/b"])
        #expect(server.requests.map(\.exchangeIndex) == [0, 1])
        #expect(server.requests.map(\.body.count) == [0, 0])
    }

    @Test("A client that expects 100 gets the early response instead")
    func expectation() throws {
        let server = try MockServer()
        server.enqueue(.status(.contentTooLarge).early().closing())
        let client = try RawClient(port: server.port)
        client.send("PUT / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n")
        #expect(client.response().status == 413)
        #expect(client.readToEnd() == ("", .orderly))
    }

    @Test("With a closing connection the content stays unread: a sending client is stuck, not reset")
    func unreadContent() throws {
        let server = try MockServer()
        server.enqueue(.text("stop", status: .contentTooLarge).early().closing())
        let client = try RawClient(port: server.port)
        client.send("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n")
        #expect(client.response().body == "stop")
        client.send([UInt8](repeating: 0, count: 50_000))
        #expect(client.readToEnd() == ("", .orderly))
    }

    @Test("The bytes that were sent are counted")
    func sentBytes() throws {
        let server = try MockServer()
        server.on(.get, "/", respond: .generated(bytes: 100_000).closing())
        let (text, _) = try RawClient(port: server.port).send("GET / HTTP/1.1\r\nHost: x\r\n\r\n").readToEnd()
        #expect(server.sentBytes > 100_000)
        #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
    }
}
