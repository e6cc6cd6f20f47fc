// SPDX-License-Identifier: MIT

import CurlewHTTP
import CurlewTesting
import Testing

@testable import CurlewAuthentication
@testable import CurlewCaching
@testable import CurlewCore
@testable import CurlewRedirects
@testable import CurlewStandard
@testable import CurlewTransportSecurity

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Credentials of `http://host`, once the host is asked over https.
@Suite(.timeLimit(.minutes(1)))
struct HSTSCredentialTests {
    private let clock = ManualClock(date: Date(timeIntervalSince1970: 1_800_000_000))
    private let store = HSTSStore()

    init() {
        store.insert("a.test", at: clock.date)
    }

    private func client(
        _ interceptors: [any Interceptor], base: BaseURL = "http://a.test",
        answer: @escaping @Sendable (RecordedCall) -> HTTPResponse = { _ in .status(204) }
    ) -> APIClient {
        var pipeline = Pipeline.standard.adding(.hsts(store))
        for interceptor in interceptors { pipeline = pipeline.adding(interceptor) }
        return .mock(baseURL: base, pipeline: pipeline, configuration: APIClient.Configuration(time: clock)) {
            $0.onAny(answer)
        }
    }

    private func authorization(_ client: APIClient) -> [String?] {
        client.recordedCalls.map { $0.request.headers[.authorization] }
    }

    @Test("they go along to the same host over https, both ports being the default ones")
    func upgrade() async throws {
        let basic = client([.basic(user: "ada", password: "x", for: "http://a.test")])
        try await basic.send(Request<HTTPResponse>.get("/"))
        #expect(basic.recordedCalls.map(\.request.urlString) == ["https://a.test/"])
        #expect(authorization(basic) == ["Basic YWRhOng="])
        let bearer = client([.bearer(for: "http://a.test") { "secret" }])
        try await bearer.send(Request<HTTPResponse>.get("/"))
        #expect(authorization(bearer) == ["Bearer secret"])
        let hook = client([.onRequest { request, _ in request.headers["X-Api-Key"] = "secret" }])
        try await hook.send(Request<HTTPResponse>.get("/"))
        #expect(hook.recordedCalls.map { $0.request.headers["X-Api-Key"] } == ["secret"])
    }

    @Test(
        "they go nowhere else",
        arguments: [
            ("https://a.test", "http://a.test"), ("http://a.test", "https://a.test:8443"),
            ("http://a.test:8080", "https://a.test"), ("http://a.test:8080", "https://a.test:8080"),
            ("http://a.test", "https://b.test"), ("http://a.test", "https://x.a.test"),
            ("http://a.test", "http://a.test:443"), ("http://a.test:443", "https://a.test"),
            ("https://a.test", "https://a.test:80"),
        ])
    func nowhereElse(home: String, other: String) async throws {
        let (mine, theirs) = (try HTTPRequest(url: home).origin, try HTTPRequest(url: other).origin)
        #expect(mine.shares(with: mine) && !mine.shares(with: theirs))
        let client = APIClient.mock(pipeline: .standard.adding(.bearer(for: home) { "secret" })) {
            $0.onAny { _ in .status(204) }
        }
        try await client.send(Request<HTTPResponse>.get(url: other + "/x"))
        #expect(authorization(client) == [nil])
    }

    @Test("a redirect of the server leaves them behind, as any other that leaves the origin")
    func redirect() async throws {
        store.removeAll()
        let client = client([.bearer(for: "http://a.test") { "secret" }]) { call in
            guard call.request.origin.isSecure else {
                return .status(301, headers: [.location: "https://a.test/"])
            }
            return .status(204)
        }
        try await client.send(Request<HTTPResponse>.get("/"))
        #expect(authorization(client) == ["Bearer secret", nil])
    }

    @Test("a cache keeps apart what two users got over https", arguments: [false, true])
    func cache(isOutside: Bool) async throws {
        let cache = CacheInterceptor()
        for user in ["ada", "bob", "ada"] {
            let placed: any Interceptor = isOutside ? cache.placed(at: .redirects) : cache
            let client = client([placed, .basic(user: user, password: "x", for: "http://a.test")]) { call in
                HTTPResponse(
                    headers: [.cacheControl: "max-age=60"],
                    body: ResponseBody(Data((call.request.headers[.authorization] ?? "nobody").utf8)))
            }
            let text = try await client.send(Request<String>.get("/me"))
            #expect(text == "Basic " + Data("\(user):x".utf8).base64EncodedString())
        }
        // Where the cache asks before the request becomes one over https, it cannot know whose answer comes.
        #expect(try await cache.store.statistics().entries == (isOutside ? 0 : 2))
    }
}
