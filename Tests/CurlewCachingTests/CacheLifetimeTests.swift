// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCaching
@testable import CurlewCore

/// What the app overrides: lifetimes, and query items that are not part of the key.
@Suite(.timeLimit(.minutes(1)))
struct CacheLifetimeTests {
    private static func rules(
        _ overriding: HTTPCache.Options.Lifetime.Override = .nothing, under scope: String = "https://api.example/films"
    ) -> HTTPCache.Options {
        var rules = HTTPCache.Options()
        rules.lifetimes = [HTTPCache.Options.Lifetime(.seconds(600), under: scope, overriding: overriding)]
        return rules
    }

    private static func fixture(
        _ rules: HTTPCache.Options, _ fields: HTTPHeaders, _ status: HTTPStatus = .ok
    ) -> CacheFixture {
        CacheFixture(rules: rules) { _ in .data(Data("x".utf8), status: status, headers: fields) }
    }

    @Test("A lifetime counts where the server says nothing, for as long as it says")
    func silent() async throws {
        let fixture = Self.fixture(Self.rules(), [:])
        _ = try await fixture.text("/films/1")
        fixture.clock.advance(by: .seconds(599))
        let hit = try await fixture.send(.get, "/films/1")
        #expect(hit.cacheStatus.description.contains("HTTPCache.Options.lifetimes"))
        #expect(!hit.headers.contains(.cacheControl), "the fields are the server's")
        fixture.clock.advance(by: .seconds(2))
        #expect(try await fixture.send(.get, "/films/1").served == .network)
        _ = try await fixture.text("/stars/1")
        #expect(try await fixture.send(.get, "/stars/1").served == .network, "another path")
    }

    private static let words: [(HTTPCache.Options.Lifetime.Override, HTTPHeaders, Bool)] = [
        (.nothing, [.cacheControl: "public"], true),
        (.nothing, [.lastModified: "Mon, 01 Jan 2020 00:00:00 GMT"], true),
        (.nothing, [.cacheControl: "max-age=1"], false),
        (.nothing, ["Expires": "0"], false),
        (.nothing, [.cacheControl: "no-cache"], false),
        (.nothing, [.cacheControl: "no-store"], false),
        (.lifetime, [.cacheControl: "max-age=1"], true),
        (.lifetime, ["Expires": "0"], true),
        (.lifetime, [.cacheControl: "no-cache"], true),
        (.lifetime, [.cacheControl: "max-age=0, must-revalidate"], true),
        (.lifetime, [.cacheControl: "no-store"], false),
        (.lifetime, [.cacheControl: "max-age=1, no-store"], false),
        (.lifetimeAndNoStore, [.cacheControl: "no-store"], true),
        (.lifetimeAndNoStore, [.cacheControl: "no-store, no-cache, max-age=0"], true),
        (.lifetimeAndNoStore, [.vary: "*"], false),
    ]

    @Test("Each lifetime replaces the directives that it names, and no other", arguments: words)
    func overriding(_ one: (override: HTTPCache.Options.Lifetime.Override, fields: HTTPHeaders, isReused: Bool))
        async throws
    {
        let fixture = Self.fixture(Self.rules(one.override), one.fields)
        _ = try await fixture.text("/films/1")
        fixture.clock.advance(by: .seconds(300))
        _ = try await fixture.text("/films/1")
        #expect(fixture.transport.requestCount == (one.isReused ? 1 : 2))
    }

    @Test("Statuses that may not be stored by default are not stored", arguments: [201, 206, 302, 400, 403, 404, 500])
    func statuses(code: Int) async throws {
        let fixture = Self.fixture(Self.rules(.lifetimeAndNoStore), [.contentRange: "bytes 0-0/1"], HTTPStatus(code))
        for _ in 0..<2 { _ = try await fixture.send(.get, "/films/1") }
        #expect(fixture.transport.requestCount == 2)
    }

    @Test(
        "A scope covers its path and what lies below it",
        arguments: [
            ("https://api.example/films", "https://api.example/films", true),
            ("https://api.example/films", "https://api.example/films/1", true),
            ("https://api.example/films", "https://api.example/films?page=2", true),
            ("https://api.example/films", "https://api.example/filmstars", false),
            ("https://api.example/films/", "https://api.example/films/1", true),
            ("https://api.example/films/", "https://api.example/films", false),
            ("https://api.example", "https://api.example/anything", true),
            ("https://api.example", "https://api.example.evil.test/", false),
            ("https://API.example:443/films", "https://api.example/films", true),
            ("http://api.example/films", "https://api.example/films", false),
            ("api.example/films", "https://api.example/films", false),
            ("https://api.example/films?a=1", "https://api.example/films?a=1", false),
        ])
    func scopes(scope: String, target: String, isCovered: Bool) {
        #expect(HTTPCache.Options.Lifetime(.seconds(1), under: scope).covers(target) == isCovered)
    }

    @Test("A scope that is no URL is a problem of the client")
    func problem() async throws {
        let transport = MockTransport.answering { _ in .status(200) }
        let pipeline: Pipeline = [.caching(options: Self.rules(under: "films"))]
        let client = APIClient(baseURL: "https://api.example", pipeline: pipeline, transport: transport)
        let error = await #expect(throws: NetworkError.self) { try await client.send(Request<HTTPResponse>(.get, "/")) }
        #expect(error?.reason == .configuration && error?.detail.contains("films") == true)
    }

    @Test("Ignored query items are sent, and are no part of the key")
    func items() async throws {
        var rules = HTTPCache.Options()
        rules.ignoredQueryItems = ["utm_*", "fbclid"]
        let fixture = Self.fixture(rules, [.cacheControl: "max-age=60"])
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
