// SPDX-License-Identifier: MIT

import Testing

@Suite(.timeLimit(.minutes(1)))
struct MockStubTests {
    let ada = User(id: 1, name: "Ada")

    @Test("One line makes a client whose typed stub receives the endpoint and returns a value")
    func value() async throws {
        let client = APIClient.mock { $0.on(GetUser.self) { User(id: $0.id, name: "Ada") } }
        #expect(try await client.send(GetUser(id: 7)) == User(id: 7, name: "Ada"))
        #expect(client.recordedCalls.map { "\($0)" } == ["GET https://mock.test/users/7 (GetUser)"])
    }

    @Test("A typed stub may answer JSON text, bytes or a response")
    func kinds() async throws {
        let client = APIClient.mock {
            $0.on(GetUser.self) { endpoint in #"{"id": \#(endpoint.id), "name": "text"}"# }
            $0.on(CreateUser.self) { _ in Data(#"{"id":2,"name":"bytes"}"#.utf8) }
            $0.on(FindUser.self) { _ in HTTPResponse.json(User(id: 3, name: "response"), status: .accepted) }
        }
        #expect(try await client.send(GetUser(id: 1)).name == "text")
        #expect(try await client.send(CreateUser(user: ada)).name == "bytes")
        #expect(try await client.send(FindUser(name: "x"))?.name == "response")
    }

    @Test("Text and bytes that begin like JSON, also behind white space, are sent as JSON", arguments: ["", " \n\t\r"])
    func recognised(space: String) async throws {
        let client = APIClient.mock {
            $0.on(.get, "/text/:json") { call in space + (call.parameters["json"] ?? "") }
            $0.on(.get, "/data/:json") { call in Data((space + (call.parameters["json"] ?? "")).utf8) }
        }
        for (path, type) in [
            ("/text/%5B1%5D", "application/json"), ("/data/%5B1%5D", "application/json"),
            ("/text/%7B%7D", "application/json"), ("/data/%7B%7D", "application/json"),
            ("/text/x", "text/plain"), ("/data/x", "application/octet-stream"),
        ] {
            let response = try await client.send(Request<HTTPResponse>(.get, "\(raw: path)"))
            #expect(response.headers[.contentType]?.hasPrefix(type) == true, "\(path)")
        }
    }

    @Test("A fixed response can be given any number of times")
    func fixed() async throws {
        let client = APIClient.mock {
            $0.on(Logout.self, .status(204))
            $0.on(.get, "/users/:id", .json(text: #"{"id": 1, "name": "Ada"}"#))
        }
        try await client.send(Logout())
        try await client.send(Logout())
        for _ in 0..<3 { #expect(try await client.send(.user(id: 1)) == ada) }
    }

    @Test("A response that a stub keeps can be read again by the next call")
    func kept() async throws {
        let response = HTTPResponse.json(text: #"{"id": 1, "name": "Ada"}"#)
        let client = APIClient.mock { $0.on(GetUser.self) { _ in response } }
        for _ in 0..<2 { #expect(try await client.send(GetUser(id: 1)) == ada) }
    }

    @Test("nil responds 204, which an Optional reads as nil")
    func absent() async throws {
        let client = APIClient.mock { $0.on(FindUser.self) { _ -> User? in nil } }
        #expect(try await client.send(FindUser(name: "nobody")) == nil)
        let present = APIClient.mock { $0.on(FindUser.self) { endpoint -> User? in User(id: 1, name: endpoint.name) } }
        #expect(try await present.send(FindUser(name: "Ada")) == ada)
    }

    @Test("Inline requests are matched by method and path, with parameters")
    func inline() async throws {
        let client = APIClient.mock {
            $0.on(.get, "/users/:id") { call in User(id: Int(call.parameters["id"] ?? "") ?? 0, name: "path") }
            $0.on(.get, "/users/1") { _ in User(id: 1, name: "literal") }
        }
        #expect(try await client.send(.user(id: 7)) == User(id: 7, name: "path"))
        #expect(try await client.send(.user(id: 1)).name == "literal")
    }

    @Test("A route of an enum is matched by its type, and the stub sees the case")
    func routes() async throws {
        let client = APIClient.mock {
            $0.on(UsersAPI.self) { route in
                switch route {
                case .list: HTTPResponse.json([User(id: 1, name: "Ada")])
                case .one(let id): HTTPResponse.json(User(id: id, name: "one"))
                }
            }
        }
        let users: [User] = try await client.send(UsersAPI.list.decoding())
        #expect(users == [ada])
        #expect(try await client.send(UsersAPI.one(5).decoding(User.self)).id == 5)
    }

    @Test("A typed stub comes before one for the path, and of two for a type the last counts")
    func order() async throws {
        let mock = MockTransport {
            $0.on(.get, "/users/1") { _ in User(id: 1, name: "path") }
            $0.on(GetUser.self) { _ in User(id: 1, name: "first") }
            $0.on(GetUser.self) { _ in User(id: 1, name: "second") }
        }
        let client = APIClient.mock(mock)
        #expect(try await client.send(GetUser(id: 1)).name == "second")
        #expect(try await client.send(.user(id: 1)).name == "path")
        mock.on(GetUser.self) { _ in User(id: 1, name: "third") }
        #expect(try await client.send(GetUser(id: 1)).name == "third")
    }

    @Test("A model that can only be decoded is handed to the call as it is")
    func decodableOnly() async throws {
        let client = APIClient.mock {
            $0.on(GetFilm.self) { Film(title: "Film \($0.id)") }
            $0.on(FindFilm.self) { _ in nil }
            $0.on(Logout.self) { _ in }
        }
        #expect(try await client.send(GetFilm(id: 3)) == Film(title: "Film 3"))
        #expect(try await client.response(for: GetFilm(id: 3)).value.title == "Film 3")
        #expect(try await client.send(FindFilm()) == nil)
        try await client.send(Logout())
        let text = APIClient.mock { $0.on(GetFilm.self) { _ in #"{"title":"text"}"# } }
        #expect(try await text.send(GetFilm(id: 1)).title == "text")
    }

    @Test("Asking for the bytes of a value that has none says what to do")
    func noBytes() async throws {
        let client = APIClient.mock { $0.on(GetFilm.self) { _ in Film(title: "x") } }
        let error = await #expect(throws: NetworkError.self) {
            try await client.withResponse(to: GetFilm(id: 1)) { try await $0.data() }
        }
        #expect(error?.hint?.contains("Encodable") == true)
    }

    @Test("Values are written by the client's codecs, or by those of the call")
    func codecs() async throws {
        struct Event: Codable, Equatable, Sendable {
            let createdAt: Date
        }
        let event = Event(createdAt: Date(timeIntervalSince1970: 1_000_000))
        var configuration = APIClient.Configuration()
        configuration.codecs = .snakeCase
        let client = APIClient.mock(configuration: configuration) { $0.on(.get, "/event") { _ in event } }
        #expect(try await client.send(Request<Event>.get("/event")) == event)
        #expect(try await client.send(Request<String>.get("/event")).contains("\"created_at\""))
        #expect(try await client.send(Request<Event>.get("/event"), codecs: .secondsSince1970) == event)
    }

    @Test("A closure for everything sees the request, its body and its query")
    func everything() async throws {
        let mock = MockTransport.answering { call in
            switch call.method {
            case .post: .json(text: call.text, status: .created)
            default: .text("\(call.path) \(call.query["name"] ?? "-") \(call.query["absent"] ?? "-")")
            }
        }
        let client = APIClient.mock(mock)
        #expect(try await client.send(CreateUser(user: ada)) == ada)
        #expect(try await client.send(Request<String>.get("/a b", query: ["name": "x&y z"])) == "/a%20b x&y z -")
        #expect(try mock.requests[0].json(User.self) == ada)
        #expect(mock.requests(for: CreateUser.self).map(\.user) == [ada])
    }

    @Test("A request without a stub is an error that names it and the nearest stub")
    func unmatched() async throws {
        let mock = MockTransport {
            $0.on(CreateUser.self) { $0.user }
            $0.on(.delete, "/users/:id", .status(204))
        }
        let client = APIClient.mock(mock)
        let error = await #expect(throws: NetworkError.self) { try await client.send(GetUser(id: 9)) }
        #expect(error?.reason == .refused(by: .mock))
        let text = error?.description ?? ""
        let asked = "GET https://mock.test/users/9 (GetUser)"
        for part in [asked, "nearest of 2 stubs is DELETE /users/:id", "the method is GET, not DELETE", "onAny"] {
            #expect(text.contains(part), "\(part) is missing in \(text)")
        }
        #expect(mock.requestCount == 1)
    }

    @Test("The limit of the call applies to what a stub answers")
    func limits() async throws {
        var options = RequestOptions()
        options.limits = Limits(responseBody: 10)
        let client = APIClient.mock { $0.on(.get, "/big", .text("longer than ten bytes")) }.with(options: options)
        let error = await #expect(throws: NetworkError.self) { try await client.send(Request<String>.get("/big")) }
        #expect(error?.reason == .limitExceeded(.responseBody))
    }
}
