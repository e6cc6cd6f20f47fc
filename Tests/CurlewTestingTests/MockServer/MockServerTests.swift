// SPDX-License-Identifier: MIT

import Testing

@Suite(.timeLimit(.minutes(1)))
struct MockServerTests {
    private struct User: Codable, Equatable {
        var id: String
        var name: String
    }

    @Test("A route responds with its parameters, and the request is recorded")
    func route() throws {
        let server = try MockServer()
        server.on(.get, "/users/:id") { .json(User(id: $0.parameters["id"] ?? "", name: $0.query["name"] ?? "")) }
        let client = try RawClient(port: server.port)
        let response = client.get("/users/a%2Fb?name=J+%C3%A9&flag&x=1&x=2", fields: "Accept: one\r\naccept: two\r\n")
        #expect(response.status == 200)
        #expect(response.head.contains("Content-Type: application/json\r\n"))
        #expect(response.body == #"{"id":"a/b","name":"J é"}"#)

        let request = try #require(server.requests.first)
        #expect(request.method == .get)
        #expect(request.target == "/users/a%2Fb?name=J+%C3%A9&flag&x=1&x=2")
        #expect(request.path == "/users/a%2Fb")
        #expect(request.parameters["id"] == "a/b")
        #expect(request.headers[.accept] == "one, two")
        #expect(request.query.items.map(\.name) == ["name", "flag", "x", "x"])
        #expect(request.query.items.map(\.value) == ["J é", "", "1", "2"])
        #expect(server.requestCount == 1)
    }

    @Test("The address is on loopback")
    func address() throws {
        let server = try MockServer()
        #expect(server.url == "http://127.0.0.1:\(server.port)")
        #expect(server.origin == Origin(scheme: "http", host: "127.0.0.1", port: server.port))
        #expect(server.origin.isLoopback)
    }

    @Test("A server listens on IPv6 if asked", .enabled(if: LoopbackIPv6.isThere, "the system has no ::1"))
    func ipv6() throws {
        var configuration = MockServer.Configuration()
        configuration.address = .ipv6
        let server = try MockServer(configuration)
        server.on(.get, "/", respond: .text("six"))
        #expect(server.url == "http://[::1]:\(server.port)")
        #expect(try RawClient(port: server.port, isIPv6: true).get("/").body == "six")
    }

    @Test("A port that is taken is an error that says so")
    func takenPort() throws {
        let server = try MockServer()
        var configuration = MockServer.Configuration()
        configuration.port = server.port
        let error = #expect(throws: MockError.self) { try MockServer(configuration) }
        #expect(error?.message.contains("\(server.port)") == true)
    }

    @Test("The most specific route wins, the last added among equals, and nil is any method")
    func precedence() throws {
        let server = try MockServer()
        server.on(nil, "/*rest") { .text("rest \($0.parameters["rest"] ?? "")") }
        server.on(.get, "/u/:id", respond: .text("old"))
        server.on(.get, "/u/:name") { .text("user \($0.parameters["name"] ?? "")") }
        server.on(.get, "/u/me", respond: .text("me"))
        let client = try RawClient(port: server.port)
        let answers = ["/u/me", "/u/you", "/u/you/too", "http://x/u/me"].map { client.get($0).body }
        #expect(answers == ["me", "user you", "rest u/you/too", "me"])
        #expect(client.send("PUT /u/me HTTP/1.1\r\nHost: x\r\n\r\n").response().body == "rest u/me")
    }

    @Test("Enqueued responses come first, one for each request")
    func queue() throws {
        let server = try MockServer()
        server.on(.get, "/", respond: .text("route"))
        server.enqueue(.status(.serviceUnavailable), .text("second"))
        let client = try RawClient(port: server.port)
        #expect((0..<3).map { _ in client.get("/").status } == [503, 200, 200])
        #expect(client.get("/").body == "route")
    }

    @Test("A request without a route is a 404 that names method and path")
    func unmatched() throws {
        let server = try MockServer()
        server.on(.get, "/users/:id", respond: .status(.ok))
        let response = try RawClient(port: server.port).get("/users?token=s3cret")
        #expect(response.status == 404)
        #expect(response.head.contains("application/problem+json"))
        let problem = try JSONDecoder().decode(ProblemDetails.self, from: Data(response.body.utf8))
        #expect(problem.detail == "no route for GET /users")
        #expect(problem.status == 404)
    }

    @Test("A path with routes for other methods is a 405 that lists them")
    func otherMethods() throws {
        let server = try MockServer()
        server.on(.post, "/users", respond: .status(.created))
        server.on(.put, "/users", respond: .status(.ok))
        let response = try RawClient(port: server.port).get("/users")
        #expect(response.status == 405)
        #expect(response.head.contains("Allow: POST, PUT\r\n"))
    }

    @Test("HEAD is served by GET's route, without the content")
    func head() throws {
        let server = try MockServer()
        server.on(.get, "/", respond: .text("hello"))
        let client = try RawClient(port: server.port)
        let response = client.send("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n").response(hasContent: false)
        #expect(response.head.contains("Content-Length: 5\r\n"))
        #expect(client.get("/").body == "hello")
        #expect(server.requests.map(\.method) == [.head, .get])
    }

    @Test("A throwing handler, an unencodable value and an invalid field are a 500")
    func brokenAnswers() throws {
        struct Unlucky: Error {}
        let server = try MockServer()
        server.on(.get, "/throws") { _ in throw Unlucky() }
        server.on(.get, "/value") { _ in .json([Double.nan]) }
        server.on(.get, "/field", respond: .text("x").with(headers: ["X": "a\r\nb"]))
        server.on(.get, "/length", respond: .text("x").with(headers: [.contentLength: "5"]))
        server.on(.get, "/file", respond: .file("no/such/file"))
        let client = try RawClient(port: server.port)
        for path in ["/throws", "/value", "/field", "/length", "/file"] {
            #expect(client.get(path).status == 500, "\(path)")
        }
        #expect(client.get("/throws").body.contains("Unlucky"))
    }

    @Test("More requests than are recorded are counted")
    func recordingLimit() throws {
        var configuration = MockServer.Configuration()
        configuration.maximumRecordedRequests = 2
        let server = try MockServer(configuration)
        let client = try RawClient(port: server.port)
        for _ in 0..<4 { _ = client.get("/") }
        #expect(server.requests.count == 2)
        #expect(server.requestCount == 4)
    }
}
