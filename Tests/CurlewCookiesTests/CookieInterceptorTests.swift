// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCookies
@testable import CurlewCore

@Suite(.timeLimit(.minutes(1)))
struct CookieInterceptorTests {
    let store = CookieStore(CookieFixtures.jar())
    let clock = ManualClock(date: CookieFixtures.now)

    func client(observers: [any RequestObserver] = [], _ configure: (MockTransport) -> Void) -> APIClient {
        .mock(
            baseURL: "https://a.test", pipeline: .standard.adding(.cookies(store)),
            configuration: .init(observers: observers, time: clock), configure)
    }

    func sent(by client: APIClient) -> [String?] {
        client.recordedCalls.map { $0.request.headers[.cookie] }
    }

    @Test("A cookie that a server sets comes back with the next call")
    func session() async throws {
        let client = client {
            $0.on(.post, "/login") { _ in
                var answer = HTTPResponse.status(401)
                answer.headers.append(.setCookie, "id=7; Path=/; HttpOnly")
                answer.headers.append(.setCookie, "theme=dark; Path=/")
                return answer
            }
            $0.on(.get, "/me", .status(204))
        }
        #expect(client.pipeline.description.hasPrefix("Redirects → Cookies → Retry("))
        #expect(client.problems.isEmpty)
        try await client.send(Request<HTTPResponse>(.post, "/login"))
        try await client.send(Request<HTTPResponse>(.get, "/me"))
        #expect(sent(by: client) == [nil, "id=7; theme=dark"])
        #expect(try await client.preview(Request<HTTPResponse>(.get, "/me")).headers[.cookie] == "id=7; theme=dark")
    }

    @Test("Each hop of a redirect gets the cookies of its host, and its response's are kept")
    func hops() async throws {
        store.insert(Cookie(name: "b", value: "1", domain: "b.test"))
        let client = client {
            $0.on(.get, "/1", .status(302, headers: [.location: "https://b.test/2", .setCookie: "a=1; Path=/"]))
            $0.on(.get, "/2", .status(302, headers: [.location: "https://a.test/3", .setCookie: "b=2; Path=/"]))
            $0.on(.get, "/3", .status(302, headers: [.location: "https://b.test/4"]))
            $0.on(.get, "/4", .status(204))
        }
        try await client.send(Request<HTTPResponse>(.get, "/1"))
        #expect(sent(by: client) == [nil, "b=1", "a=1", "b=2"])
    }

    @Test("A page that tests for cookies redirects to itself, once")
    func cookieTest() async throws {
        let client = client {
            $0.on(.get, "/") { call in
                call.request.headers[.cookie] == "seen=1"
                    ? .status(204) : .status(302, headers: [.location: "/", .setCookie: "seen=1"])
            }
        }
        #expect(try await client.send(Request<HTTPResponse>(.get, "/")).status == .noContent)
    }

    @Test(
        "A Cookie field of the call is sent alone; another origin gets the store's instead"
    )
    func callersOwn() async throws {
        store.insert(Cookie(name: "a", value: "1", domain: "a.test"))
        store.insert(Cookie(name: "b", value: "1", domain: "b.test"))
        let client = client {
            $0.on(.get, "/1", .status(302, headers: [.location: "/2"]))
            $0.on(.get, "/2", .status(302, headers: [.location: "https://b.test/3"]))
            $0.on(.get, "/3", .status(302, headers: [.location: "https://a.test/4", .setCookie: "own=2"]))
            $0.on(.get, "/4", .status(204))
        }
        try await client.send(Request<HTTPResponse>(.get, "/1").header(.cookie, "own=1"))
        #expect(sent(by: client) == ["own=1", "own=1", "b=1", "a=1"])
    }

    @Test(
        "Back from another site, SameSite counts; another host of the same site is no other site",
        arguments: [
            ("https://b.test", 302, "lax=1; none=1"), ("https://b.test", 307, "none=1"),
            ("https://sub.a.test", 307, nil),
            ("https://a.test:8443", 307, nil), ("http://a.test", 307, "none=1"),
        ] as [(String, Int, String?)])
    func sameSite(other: String, status: Int, expected: String?) async throws {
        for (name, value) in [("strict", Cookie.SameSite.strict), ("lax", .lax), ("none", .none)] {
            store.insert(Cookie(name: name, value: "1", domain: "a.test", path: "/back", sameSite: value))
        }
        // From http only a call that begins there comes back: nothing leads from https to http.
        let start: BaseURL = other.hasPrefix("http:") ? "http://a.test" : "https://a.test"
        let client = client {
            $0.on(nil, "/out", .status(HTTPStatus(status), headers: [.location: "\(other)/there"]))
            $0.on(nil, "/there", .status(HTTPStatus(status), headers: [.location: "https://a.test/back"]))
            $0.on(nil, "/back", .status(204))
        }
        try await client.send(Request<HTTPResponse>(.post, "/out").baseURL(start))
        #expect(sent(by: client).last == (expected ?? "strict=1; lax=1; none=1"))
    }

    @Test("A refused cookie fails nothing, and observers receive its name and the reason")
    func refused() async throws {
        let listener = RefusedCookies()
        let client = client(observers: [listener]) {
            $0.onAny { _ in
                var answer = HTTPResponse.status(204)
                answer.headers.append(.setCookie, "super=hunter2; Domain=test")
                answer.headers.append(.setCookie, "hunter2; Domain=b.test")
                for number in 0..<60 { answer.headers.append(.setCookie, "n\(number)=1") }
                return answer
            }
        }
        try await client.send(Request<HTTPResponse>(.get, "/"))
        let refused = listener.refused
        #expect(refused.count == 14, "two for their domain, twelve over 50")
        #expect(refused.first == "super The cookie's Domain is a public suffix.")
        #expect(refused[1] == " The cookie's Domain is not a domain of the host that set it.")
        #expect(refused.last == "n59 The response sets too many cookies.")
        #expect(!refused.joined().contains("hunter2"))
        #expect(store.cookies.count == 48)
    }

    @Test("Cookies left of the redirects are a problem of the pipeline")
    func order() {
        let pipeline: Pipeline = [.cookies(store), .redirects()]
        #expect(pipeline.problems().count == 1)
    }

    @Test("Expiry uses the client's clock")
    func time() async throws {
        let client = client { $0.onAny { _ in .status(204, headers: [.setCookie: "a=1; Max-Age=10; Path=/"]) } }
        try await client.send(Request<HTTPResponse>(.get, "/"))
        clock.advance(by: .seconds(9))
        #expect(try await client.preview(Request<HTTPResponse>(.get, "/")).headers[.cookie] == "a=1")
        clock.advance(by: .seconds(1))
        #expect(try await client.preview(Request<HTTPResponse>(.get, "/")).headers[.cookie] == nil)
    }
}
