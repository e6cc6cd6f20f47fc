// SPDX-License-Identifier: MIT

import Testing

/// Requests that are made of routes and of complete messages.
@Suite(.timeLimit(.minutes(1)))
struct RouteRequestTests {
    private struct Elsewhere: Route {
        var method: HTTPMethod { .query }
        var path: RequestPath { "/x" }
        var query: QueryItems { ["a": 1] }
        var headers: HTTPHeaders { ["X-Kind": "route"] }
        var content: RequestContent { .text("what") }
        var options: RequestOptions {
            var options = RequestOptions()
            options.isIdempotent = true
            return options
        }
        var baseURL: BaseURL? { "https://other.example/v2" }
        var name: String { "elsewhere" }
    }

    @Test("A request made from a route keeps everything of the route")
    func all() throws {
        let call = Elsewhere().decoding(Person.self)
        #expect(call.name == "elsewhere" && call.options.isIdempotent == true)
        let request = try APIClient.testing(RecordingTransport()).request(for: call)
        #expect("\(request.method) \(request.urlString)" == "QUERY https://other.example/v2/x?a=1")
        #expect(request.headers["X-Kind"] == "route" && request.body.data == Data("what".utf8))
    }

    @Test("A request made from a route can be changed and mapped, and a mock still sees the route")
    func seen() async throws {
        let mock = MockTransport { $0.on(PeopleAPI.self) { _ in Person.ann } }
        let client = APIClient.mock(mock)
        let call = PeopleAPI.one(7).decoding(Person.self).header("X-Kind", "changed").map(\.name)
        #expect(try await client.send(call) == "Ann")
        try await client.send(PeopleAPI.list.ignoringBody().options { $0.isIdempotent = true })
        let routes = mock.requests(for: PeopleAPI.self)
        #expect(routes.count == 2)
        if case .one(let id)? = routes.first { #expect(id == 7) } else { Issue.record("the first route is another") }
        #expect(mock.requests.first?.request.headers["X-Kind"] == "changed")
    }

    @Test("A route sent for nothing accepts no media type and ignores the body; its status counts")
    func ignoring() async throws {
        let mock = MockTransport { $0.on(.get, "/people/1", .text("no JSON at all", status: .created)) }
        let call = PeopleAPI.one(1).ignoringBody()
        try await APIClient.mock(mock).send(call)
        #expect(mock.requests.first?.request.headers[.accept] == "*/*")
        #expect(try await APIClient.mock(mock).response(for: call).status == .created)
        mock.on(.get, "/people/1", .status(.forbidden))
        await #expect(throws: NetworkError(statusCode: 403)) { try await APIClient.mock(mock).send(call) }
    }

    @Test("A route is a typed call of a message: decoded, for nothing, or as it comes")
    func messages() async throws {
        let mock = MockTransport {
            $0.on(.post, "/v1/count", .json(text: "3"))
            $0.on(.get, "/v1/gone", .status(.gone))
        }
        let client = APIClient.mock(mock)
        let url = "https://mock.test/v1/count?a=1"
        let message = try HTTPRequest(
            .post, url: url, headers: [.contentType: "text/plain"], body: .bytes(Data("x".utf8)))
        #expect(try await client.send(Request<Int>(message)) == 3)
        try await client.send(Request<Void>(message))
        let gone = try HTTPRequest(.get, url: "https://mock.test/v1/gone")
        #expect(try await client.send(Request<HTTPResponse>(gone)).status == .gone)
        await #expect(throws: NetworkError(statusCode: 410)) { try await client.send(Request<Data>(gone)) }
        let sent = try #require(mock.requests.first)
        #expect(sent.request.target == "/v1/count?a=1" && sent.text == "x")
        #expect(sent.request.headers[.contentType] == "text/plain")
        #expect("\(Request<Int>(gone).content)" == "no body" && "\(Request<Int>(message).content)" == "a body")
        #expect("\(Request<Int>(message))" == "HTTPRequest: POST, fields Content-Type, a body")
    }
}
