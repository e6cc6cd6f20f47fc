// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewTesting
import Testing

/// Requests that are made of routes.
@Suite("A route that becomes a request", .timeLimit(.minutes(1)))
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

    @Test("keeps everything of the route")
    func all() throws {
        let call = Elsewhere().decoding(Person.self)
        #expect(call.name == "elsewhere" && call.options.isIdempotent == true)
        let request = try APIClient.testing(RecordingTransport()).request(for: call)
        #expect("\(request.method) \(request.urlString)" == "QUERY https://other.example/v2/x?a=1")
        #expect(request.headers["X-Kind"] == "route" && request.body.data == Data("what".utf8))
    }

    @Test("may be changed and mapped, and a mock still sees the route")
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
}
