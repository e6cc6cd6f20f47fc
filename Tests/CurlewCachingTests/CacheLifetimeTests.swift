// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCaching
@testable import CurlewCore

/// What the app decides: lifetimes, and query items that are not part of the key.
@Suite(.timeLimit(.minutes(1)))
struct CacheLifetimeTests {
    /// Gives the responses below a path a lifetime that the server does not send.
    private struct FilmLifetime: Interceptor {
        func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
            var response = try await next(request)
            if request.target.hasPrefix("/films/") { response.headers[.cacheControl] = "max-age=600" }
            return response
        }
    }

    @Test("A lifetime that an interceptor closer to the transport sets counts instead of the server's")
    func lifetime() async throws {
        let transport = MockTransport.answering { _ in .data(Data("x".utf8), headers: [.cacheControl: "no-store"]) }
        let pipeline = Pipeline.empty.adding(.caching()).adding(FilmLifetime(), changesPrincipal: false)
        let clock = ManualClock(date: Date(timeIntervalSince1970: 1_700_000_000))
        let client = APIClient(
            baseURL: "https://api.example", pipeline: pipeline, transport: transport, configuration: .init(time: clock))
        for (path, wait, isReused) in [("/films/1", 599, true), ("/films/1", 2, false), ("/stars/1", 1, false)] {
            let call = Request<Data>.get(url: "https://api.example" + path)
            _ = try await client.response(for: call)
            clock.advance(by: .seconds(wait))
            let served = try await client.response(for: call).served
            #expect((served != .network) == isReused, "\(path) after \(wait) s")
        }
    }

    @Test("Ignored query items are sent, and are no part of the key")
    func items() async throws {
        var rules = HTTPCache.Options()
        rules.ignoredQueryItems = ["utm_*", "fbclid"]
        let fixture = CacheFixture(rules: rules) { _ in
            .data(Data("x".utf8), headers: [.cacheControl: "max-age=60"])
        }
        _ = try await fixture.text("/a?utm_source=x&page=1&fbclid=7")
        #expect(fixture.transport.requests.last?.request.target == "/a?utm_source=x&page=1&fbclid=7")
        let hit = try await fixture.send(.get, "/a?page=1&utm_medium=y")
        #expect(hit.served != .network && hit.url == "https://api.example/a?page=1&utm_medium=y")
        #expect(try await fixture.send(.get, "/a?page=2").served == .network)
        #expect(try await fixture.send(.get, "/a?page=1&fbclid2=1").served == .network)
        _ = try await fixture.send(.put, "/a?fbclid=9&page=1")
        #expect(try await fixture.send(.get, "/a?page=1&utm_medium=y").served == .network, "it was invalidated")
    }

    @Test(
        "Ignored query items are compared by their exact text, and others keep their place",
        arguments: [
            ("/a", "/a"), ("/a?", "/a?"), ("/a?utm_x=1", "/a"), ("/a?b=1&utm_x", "/a?b=1"),
            ("/a?UTM_x=1", "/a?UTM_x=1"),
            ("/a?utm_x=1&&b", "/a?&b"), ("/a?b=utm_x", "/a?b=utm_x"), ("/a?utm%5Fx=1", "/a?utm%5Fx=1"),
            ("/a?b=1&b=2", "/a?b=1&b=2"), ("/utm_x?b", "/utm_x?b"), ("/a?utm_\u{301}=1", "/a"),
        ])
    func targets(url: String, expected: String) {
        var rules = HTTPCache.Options()
        rules.ignoredQueryItems = ["utm_*"]
        #expect(rules.target(of: "https://h" + url) == "https://h" + expected)
    }
}
