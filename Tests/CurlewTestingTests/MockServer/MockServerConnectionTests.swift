// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewTesting

@Suite(.timeLimit(.minutes(1)))
struct MockServerConnectionTests {
    @Test("A connection is kept, and its exchanges are numbered")
    func keepAlive() throws {
        let server = try MockServer()
        server.on(.get, "/", respond: .text("ok"))
        let first = try RawClient(port: server.port)
        _ = first.get("/")
        _ = first.get("/")
        let second = try RawClient(port: server.port)
        _ = second.get("/")
        _ = first.get("/")
        #expect(server.requests.map(\.connectionIndex) == [0, 0, 1, 0])
        #expect(server.requests.map(\.exchangeIndex) == [0, 1, 0, 2])
        #expect(server.connectionCount == 2)
    }

    @Test("A client that closes a connection before it opens the next has one open at a time")
    func oneAtATime() throws {
        let server = try MockServer()
        for _ in 0..<500 { _ = try RawClient(port: server.port) }
        #expect(try RawClient(port: server.port).get("/").status == 404)
        #expect(server.connectionCount == 501)
        #expect(server.peakOpenConnections == 1)
    }

    @Test("Open connections are counted, and again when some of them have been closed")
    func severalAtATime() throws {
        let server = try MockServer()
        for count in [3, 2, 5] {
            let clients = try (0..<count).map { _ in try RawClient(port: server.port) }
            for client in clients { #expect(client.get("/").status == 404) }
        }
        #expect(server.peakOpenConnections == 5)
    }

    @Test(
        "A connection is closed when one side says so",
        arguments: [
            ("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", false),
            ("GET / HTTP/1.0\r\n\r\n", false),
            ("GET /closing HTTP/1.1\r\nHost: x\r\n\r\n", true),
        ])
    func closes(request: String, isTold: Bool) throws {
        let server = try MockServer()
        server.on(.get, "/", respond: .text("ok"))
        server.on(.get, "/closing", respond: .text("ok").closing())
        let (text, ending) = try RawClient(port: server.port).send(request).readToEnd()
        #expect(text.hasSuffix("\r\n\r\nok"))
        #expect(text.contains("Connection: close\r\n") == isTold)
        #expect(ending == .orderly)
    }

    @Test("HTTP/1.0 keeps a connection only on request, and the server says so")
    func oldVersion() throws {
        let server = try MockServer()
        server.on(.get, "/", respond: .text("ok"))
        server.on(.get, "/chunks", respond: .chunks(["a", "b"]))
        let client = try RawClient(port: server.port)
        let response = client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").response()
        #expect(response.head.contains("Connection: keep-alive\r\n"))
        let (text, _) = client.send("GET /chunks HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").readToEnd()
        #expect(text.contains("Connection: close\r\n"))
        #expect(text.hasSuffix("\r\n\r\nab"))
    }

    @Test("Pipelined requests are answered in order")
    func pipelining() throws {
        let server = try MockServer()
        server.on(.get, "/:n") { .text($0.parameters["n"] ?? "") }
        let client = try RawClient(port: server.port)
        client.send((0..<20).map { "GET /\($0) HTTP/1.1\r\nHost: x\r\n\r\n" }.joined())
        #expect((0..<20).map { _ in client.response().body } == (0..<20).map(String.init))
    }

    @Test("Chunked content is recorded whole, its trailers apart")
    func chunkedRequest() throws {
        let server = try MockServer()
        server.on(.post, "/") { .text("\($0.body.count)") }
        let client = try RawClient(port: server.port)
        client.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
        client.send("2;x=y\r\nde\r\n0\r\nDigest: 7\r\n\r\n")
        #expect(client.response().body == "5")
        let request = try #require(server.requests.first)
        #expect(request.text == "abcde")
        #expect(request.trailers == ["Digest": "7"])
    }

    @Test("A client that expects 100 receives it, another one does not")
    func expectation() throws {
        let server = try MockServer()
        server.on(.put, "/") { .text($0.text) }
        let client = try RawClient(port: server.port)
        client.send("PUT / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
        #expect(client.readHead() == "HTTP/1.1 100 Continue\r\n\r\n")
        #expect(client.send("hi").response().body == "hi")
        client.send("PUT / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nyo")
        #expect(client.response().status == 200)
    }

    @Test(
        "A request that cannot be read is answered, not recorded, and ends the connection",
        arguments: [
            ("GET / HTTP/1.1\r\n\r\n", 400), ("GET / HTTP/9.9\r\n\r\n", 505),
            ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 101\r\n\r\n\(String(repeating: "x", count: 101))", 413),
            ("GET / HTTP/1.1\r\nHost: x\r\nX: \(String(repeating: "x", count: 70_000))\r\n\r\n", 431),
            ("\u{16}\u{3}\u{1}\u{2}\u{0}", 0),
        ])
    func unreadable(request: String, status: Int) throws {
        var configuration = MockServer.Configuration()
        configuration.maximumBodyBytes = 100
        let server = try MockServer(configuration)
        let client = try RawClient(port: server.port)
        client.send(request)
        client.finish()
        let response = client.response()
        #expect(response.status == status)
        #expect(client.readToEnd().ending == .orderly)
        #expect(server.requests.isEmpty)
    }

    @Test("More clients than threads are all served, one after another")
    func connectionLimit() async throws {
        var configuration = MockServer.Configuration()
        configuration.maximumConnections = 2
        let server = try MockServer(configuration)
        server.on(.get, "/", respond: .text("ok").closing())
        let clients = try (0..<8).map { _ in try RawClient(port: server.port) }
        for client in clients { client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n") }
        for client in clients { #expect(client.response().body == "ok") }
        #expect(server.connectionCount == 8)
    }

    @Test("A silent connection is closed after the idle time")
    func idle() throws {
        var configuration = MockServer.Configuration()
        configuration.idleTimeout = .milliseconds(20)
        let server = try MockServer(configuration)
        let (text, ending) = try RawClient(port: server.port).send("GET / HT").readToEnd()
        #expect(text.isEmpty)
        #expect(ending == .orderly || ending == .reset)
    }
}
