// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCookies
@testable import CurlewCore

/// Which cookies a jar takes: RFC 6265bis §5.7.
@Suite(.timeLimit(.minutes(1)))
struct CookieJarStoreTests {
    static func refusal(_ line: String, from url: String) throws -> Cookie.Refusal? {
        var jar = CookieFixtures.jar()
        return jar.store(line, from: try CookieFixtures.request(url), at: CookieFixtures.now)
    }

    static func stored(_ line: String, from url: String) throws -> Cookie? {
        var jar = CookieFixtures.jar()
        jar.store(line, from: try CookieFixtures.request(url), at: CookieFixtures.now)
        return jar.cookies.first
    }

    @Test(
        "Domain is a domain of the host that set the cookie, or ignored",
        arguments: [
            ("www.a.test", "", "=www.a.test"), ("www.a.test", "Domain=a.test", "a.test"),
            ("www.a.test", "Domain=.A.TEST", "a.test"),
            ("www.a.test", "Domain=www.a.test", "www.a.test"), ("www.a.test", "Domain=", "=www.a.test"),
            ("www.a.test", "Domain=a.test; Domain=", "=www.a.test"), ("www.a.test", "Domain=b.test", "foreignDomain"),
            ("www.a.test", "Domain=x.www.a.test", "foreignDomain"), ("xa.test", "Domain=a.test", "foreignDomain"),
            ("www.a.test", "Domain=..a.test", "foreignDomain"), ("www.a.test", "Domain=a.test.", "foreignDomain"),
            ("www.a.test", "Domain=https://a.test", "foreignDomain"),
            ("www.a.test", "Domain=a.test:443", "foreignDomain"),
            ("www.a.test", "Domain=ä.test", "foreignDomain"), ("www.a.test", "Domain=test", "publicSuffix"),
            ("www.a.test", "Domain=com", "foreignDomain"), ("a.co.uk", "Domain=co.uk", "publicSuffix"),
            ("a.co.uk", "Domain=a.co.uk", "a.co.uk"), ("co.uk", "Domain=co.uk", "=co.uk"),
            ("github.io", "Domain=github.io", "=github.io"),
            ("me.github.io", "Domain=github.io", "publicSuffix"), ("me.github.io", "Domain=io", "publicSuffix"),
            ("a.b.kawasaki.jp", "Domain=b.kawasaki.jp", "publicSuffix"),
            ("x.city.kawasaki.jp", "Domain=city.kawasaki.jp", "city.kawasaki.jp"),
            ("localhost", "", "=localhost"), ("localhost", "Domain=localhost", "=localhost"),
            ("127.0.0.1", "", "=127.0.0.1"), ("127.0.0.1", "Domain=127.0.0.1", "=127.0.0.1"),
            ("127.0.0.1", "Domain=0.0.1", "foreignDomain"), ("127.0.0.1", "Domain=1", "foreignDomain"),
            ("[::1]", "", "=[::1]"), ("[::1]", "Domain=[::1]", "=[::1]"), ("[::1]", "Domain=::1", "foreignDomain"),
            ("a.unlisted", "Domain=unlisted", "publicSuffix"), ("b.a.unlisted", "Domain=a.unlisted", "a.unlisted"),
        ])
    func domain(host: String, attributes: String, expected: String) throws {
        let url = "https://\(host)/"
        let line = "a=b; \(attributes)"
        if let refusal = try Self.refusal(line, from: url) {
            #expect(refusal == [Cookie.Refusal.foreignDomain, .publicSuffix][expected == "publicSuffix" ? 1 : 0])
            #expect(expected == "publicSuffix" || expected == "foreignDomain")
        } else {
            let cookie = try #require(try Self.stored(line, from: url))
            #expect((cookie.isHostOnly ? "=" : "") + cookie.domain == expected)
        }
    }

    @Test(
        "Path is the written path, or the folder of the request (RFC 6265bis §5.1.4)",
        arguments: [
            ("/", "", "/"), ("/a", "", "/"), ("/a/", "", "/a"), ("/a/b", "", "/a"), ("/a/b/", "", "/a/b"),
            ("/a/b?/c/d", "", "/a"),
            ("//a", "", "/"), ("/a//b", "", "/a/"), ("/%2F/b", "", "/%2F"), ("/a/b", "Path=/x/y", "/x/y"),
            ("/a/b", "Path=", "/a"),
            ("/a/b", "Path=x", "/a"), ("/a/b", "Path=/x; Path=y", "/a"),
        ])
    func path(target: String, attributes: String, expected: String) throws {
        #expect(try Self.stored("a=b; \(attributes)", from: "https://a.test\(target)")?.path == expected)
    }

    @Test(
        "Secure cookies come over https, or from loopback",
        arguments: [
            ("https://a.test", nil), ("http://a.test", .insecureOrigin), ("http://localhost:8080", nil),
            ("http://127.0.0.1", nil), ("http://[::1]", nil), ("http://x.localhost", nil),
            ("http://192.168.0.1", .insecureOrigin),
        ] as [(String, Cookie.Refusal?)])
    func secure(url: String, expected: Cookie.Refusal?) throws {
        #expect(try Self.refusal("a=b; Secure", from: url) == expected)
        #expect(try Self.refusal("a=b", from: url) == nil)
    }

    @Test(
        "Name prefixes are enforced, in any case (RFC 6265bis §4.1.3)",
        arguments: [
            ("__Secure-a=b; Secure", true), ("__Secure-a=b", false), ("__SECURE-a=b", false),
            ("__secure-a=b; secure", true),
            ("__Secure-a=b; Secure; Domain=a.test; Path=/x", true), ("__Secure=b", true), ("x__Secure-a=b", true),
            ("__Host-a=b; Secure; Path=/", true), ("__HOST-a=b; Secure; Path=/", true), ("__Host-a=b; Secure", false),
            ("__Host-a=b; Path=/", false), ("__Host-a=b; Secure; Path=/x", false), ("__Host-a=b; Secure; Path=", false),
            ("__Host-a=b; Secure; Path=/; Domain=a.test", false), ("__Host-a=b; Secure; Path=/; Domain=", true),
            ("__Http-a=b; Secure; HttpOnly", true), ("__HTTP-a=b; Secure", false), ("__Http-a=b; HttpOnly", false),
            ("__Host-Http-a=b; Secure; HttpOnly; Path=/", true), ("__Host-Http-a=b; Secure; Path=/", false),
            ("__host-http-a=b; Secure; HttpOnly", false), ("=__Http-a=b; Secure; HttpOnly", false),
            ("=__Host-a=b; Secure; Path=/", false), ("__Secure-a; Secure", false), ("=__secure-a; Secure", false),
        ])
    func prefixes(line: String, isTaken: Bool) throws {
        #expect(try Self.refusal(line, from: "https://a.test/") == (isTaken ? nil : .brokenPrefix))
        if line.lowercased().hasPrefix("__"), line.contains("Secure;") || line.hasSuffix("Secure") {
            #expect(try Self.refusal(line, from: "http://a.test/") != nil, "not over http")
        }
    }

    @Test(
        "Over http no cookie replaces a Secure one, or comes before it",
        arguments: [
            ("a=x", false), ("a=x; Path=/", true), ("a=x; Path=/login", false), ("a=x; Path=/login/en", false),
            ("a=x; Path=/loginx", true), ("a=x; Domain=a.test; Path=/login", false), ("b=x; Path=/login", true),
            ("A=x; Path=/login", true), ("a=; Max-Age=0; Path=/login", false),
        ])
    func secureCookiesAlone(line: String, isTaken: Bool) throws {
        for (source, target) in [("www.a.test", "www.a.test"), ("www.a.test", "a.test"), ("a.test", "www.a.test")] {
            var jar = CookieFixtures.jar()
            let domain = source == "www.a.test" ? "; Domain=a.test" : ""
            let secure = "a=b; Secure; Path=/login\(domain)"
            #expect(
                jar.store(secure, from: try CookieFixtures.request("https://\(source)/"), at: CookieFixtures.now) == nil
            )
            let plain = try CookieFixtures.request("http://\(target)/login/x")
            let refusal = jar.store(line, from: plain, at: CookieFixtures.now)
            #expect(refusal == (isTaken ? nil : .hidesSecureCookie), "\(source) \(target)")
            #expect(jar.cookies.contains { $0.value == "b" })
            // Over https it may.
            let https = try CookieFixtures.request("https://\(target)/login/x")
            #expect(jar.store(line, from: https, at: CookieFixtures.now) == nil)
        }
    }

    @Test("A cookie of the same name, domain and path is replaced; it keeps its place")
    func replacing() throws {
        var jar = CookieFixtures.jar()
        let request = try CookieFixtures.request("https://a.test/")
        jar.store("first=1", from: request, at: CookieFixtures.now)
        jar.store("second=2", from: request, at: CookieFixtures.now)
        jar.store("first=3; HttpOnly; SameSite=Strict", from: request, at: CookieFixtures.now.addingTimeInterval(5))
        #expect(jar.header(for: request, at: CookieFixtures.now) == "first=3; second=2")
        #expect(jar.cookies.map(\.created) == [CookieFixtures.now, CookieFixtures.now])
        #expect(jar.cookies.first?.isHTTPOnly == true && jar.cookies.first?.sameSite == .strict)
        jar.store("first=4; Path=/x", from: request, at: CookieFixtures.now)
        jar.store("first=5; Domain=a.test", from: request, at: CookieFixtures.now)
        #expect(jar.cookies.count == 4, "another path, and one that is not host-only, are other cookies")
    }

    @Test("SameSite is the written value, or unspecified")
    func sameSite() throws {
        let said = [
            "Strict": Cookie.SameSite.strict, "LAX": .lax, "none": .none, "": .unspecified, "x": .unspecified,
            "unspecified": .unspecified, "Strict; SameSite=x": .unspecified, "x; SameSite=lax": .lax,
        ]
        for (text, expected) in said {
            let line = "a=b; Secure; SameSite=\(text)"
            #expect(try Self.stored(line, from: "https://a.test/")?.sameSite == expected, "\(text)")
        }
    }

    @Test("A cookie for requests from everywhere has to be Secure (§5.7, step 18)")
    func sameSiteNone() throws {
        var jar = CookieFixtures.jar()
        let request = try CookieFixtures.request("https://a.test/")
        #expect(jar.store("a=b; SameSite=None", from: request, at: CookieFixtures.now) == .insecureSameSite)
        #expect(jar.store("a=b; SameSite=Lax", from: request, at: CookieFixtures.now) == nil)
        let own = Cookie(name: "a", value: "b", domain: "a.test", isSecure: false, sameSite: .none)
        #expect(jar.insert(own, at: CookieFixtures.now) == .insecureSameSite)
    }

    @Test("A Secure cookie whose time is over hides nothing, and passes on nothing")
    func expiredSecure() throws {
        var jar = CookieFixtures.jar()
        let secure = try CookieFixtures.request("https://a.test/")
        let plain = try CookieFixtures.request("http://a.test/")
        jar.store("a=1; Secure; Max-Age=60", from: secure, at: CookieFixtures.now)
        #expect(jar.store("a=2", from: plain, at: CookieFixtures.now) == .hidesSecureCookie)
        let later = CookieFixtures.now.addingTimeInterval(61)
        #expect(jar.store("a=2", from: plain, at: later) == nil)
        #expect(jar.cookies.last?.created == later)
    }

    @Test("A cookie of the app is held to the same rules")
    func inserting() {
        func refusal(_ cookie: Cookie) -> Cookie.Refusal? {
            var jar = CookieFixtures.jar()
            return jar.insert(cookie, at: CookieFixtures.now)
        }
        #expect(refusal(Cookie(name: "a", value: "b", domain: ".A.test", isHostOnly: false)) == nil)
        #expect(refusal(Cookie(name: "a", value: "b\r\nX: y", domain: "a.test")) == .controlCharacter)
        #expect(refusal(Cookie(name: "a", value: "b; c=d", domain: "a.test")) == .controlCharacter)
        #expect(refusal(Cookie(name: "a=b", value: "c", domain: "a.test")) == .controlCharacter)
        #expect(refusal(Cookie(name: "", value: "", domain: "a.test")) == .empty)
        #expect(refusal(Cookie(name: "a", value: String(repeating: "x", count: 4096), domain: "a.test")) == .tooLong)
        #expect(refusal(Cookie(name: "a", value: "b", domain: "a test")) == .foreignDomain)
        #expect(refusal(Cookie(name: "a", value: "b", domain: "co.uk", isHostOnly: false)) == .publicSuffix)
        #expect(refusal(Cookie(name: "__Host-a", value: "b", domain: "a.test", path: "/x")) == .brokenPrefix)
    }

    @Test("No description shows a value")
    func descriptions() throws {
        let cookie = Cookie(name: "id", value: "hunter2", domain: "a.test", isHostOnly: false)
        #expect("\(cookie)" == "id=REDACTED for *.a.test/")
        #expect(!String(reflecting: cookie).contains("hunter2"))
        let store = CookieStore(CookieFixtures.jar())
        store.insert(cookie)
        #expect("\(store)" == "1 cookies")
    }
}
