// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCookies
@testable import CurlewCore

/// A sign followed by a combining mark is another `Character`, and the same byte to everyone who reads the cookie.
@Suite(.timeLimit(.minutes(1)))
struct CookieTextTests {
    private static let marks = ["\u{301}", "\u{200D}", "\u{FE0F}"]

    @Test("A cookie's name holds no equals sign, and its prefix is enforced, whatever follows", arguments: marks)
    func cookies(mark: String) {
        func refusal(_ cookie: Cookie) -> Cookie.Refusal? {
            var jar = CookieFixtures.jar()
            return jar.insert(cookie, at: CookieFixtures.now)
        }
        #expect(refusal(Cookie(name: "a=\(mark)b", value: "c", domain: "a.test")) == .controlCharacter)
        #expect(
            refusal(Cookie(name: "__Secure-\(mark)", value: "c", domain: "a.test", isSecure: false)) == .brokenPrefix)
        #expect(
            refusal(Cookie(name: "__Host-\(mark)", value: "c", domain: "a.test", isHostOnly: false)) == .brokenPrefix)
    }

    @Test("The name of a cookie in a log ends at the first equals sign or semicolon", arguments: marks)
    func cookieName(mark: String) async throws {
        for (line, name) in [
            ("sid=\(mark)hunter2=x; Domain=b.test", "sid"), ("hunter2;\(mark) a=b; Domain=b.test", ""),
        ] {
            let listener = RefusedCookies()
            let mock = MockTransport.answering { _ in HTTPResponse(headers: [.setCookie: line]) }
            let client = APIClient.testing(
                mock, baseURL: "https://a.test", pipeline: [.cookies(CookieStore(CookieFixtures.jar()))],
                observers: [listener])
            try await client.send(Request<HTTPResponse>(.get, "/"))
            let refused = listener.refused
            #expect(refused.first?.hasPrefix("\(name) The") == true, "\(refused)")
        }
    }

    @Test("A cookie's path and domain, and which cookie it replaces, are compared by bytes", arguments: marks)
    func cookiePlaces(mark: String) throws {
        var jar = CookieFixtures.jar()
        let request = try CookieFixtures.request("https://www.a.test/x/y")
        #expect(jar.store("a=1; Path=/\(mark)", from: request, at: CookieFixtures.now) == nil)
        #expect(jar.cookies.map(\.path) == ["/\(mark)"])
        #expect(jar.store("a=1; Domain=.\(mark)a.test", from: request, at: CookieFixtures.now) == .foreignDomain)
        // Canonically equal, and two names.
        var names = CookieFixtures.jar()
        names.store("\u{E9}=1", from: request, at: CookieFixtures.now)
        names.store("e\u{301}=2", from: request, at: CookieFixtures.now)
        #expect(names.cookies.count == 2)
    }
}
