// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCookies
@testable import CurlewCore

/// Which cookies go to which request: RFC 6265bis §5.8.3.
@Suite(.timeLimit(.minutes(1)))
struct CookieJarMatchTests {
    @Test(
        "A cookie matches its host and domain (§5.1.3)",
        arguments: [
            ("a=b", "https://www.a.test/dir/", true), ("a=b", "https://a.test/dir/", false),
            ("a=b", "https://x.www.a.test/dir/", false), ("a=b", "https://www.a.test:8443/dir/", true),
            ("a=b; Domain=a.test", "https://a.test/dir/", true),
            ("a=b; Domain=a.test", "https://www.a.test/dir/", true),
            ("a=b; Domain=a.test", "https://x.y.a.test/dir/", true),
            ("a=b; Domain=a.test", "https://xa.test/dir/", false),
            ("a=b; Domain=a.test", "https://a.test.b.test/dir/", false),
            ("a=b; Domain=a.test", "https://test/dir/", false),
            ("a=b; Domain=a.test", "https://a.test./dir/", false),
            ("a=b; Domain=a.test", "http://WWW.A.TEST/dir/", true),
        ])
    func domain(line: String, target: String, isSent: Bool) throws {
        #expect(try CookieFixtures.sent([line], to: target) == (isSent ? "a=b" : nil))
    }

    @Test(
        "A cookie matches its path (§5.1.4)",
        arguments: [
            ("/", "/", true), ("/", "/x/y", true), ("/x", "/x", true), ("/x", "/x/", true), ("/x", "/x/y", true),
            ("/x", "/xy", false), ("/x", "/X", false), ("/x", "/", false), ("/x/", "/x", false), ("/x/", "/x/", true),
            ("/x/", "/x/y", true), ("/x", "/x?y", true), ("/x", "/x%2Fy", false), ("/x", "/?/x", false),
        ])
    func path(path: String, target: String, isSent: Bool) throws {
        let sent = try CookieFixtures.sent(["a=b; Path=\(path)"], to: "https://www.a.test\(target)")
        #expect(sent == (isSent ? "a=b" : nil))
    }

    @Test("Secure cookies go over https, and to loopback")
    func secure() throws {
        #expect(try CookieFixtures.sent(["a=b; Secure"], to: "https://www.a.test/dir/") == "a=b")
        #expect(try CookieFixtures.sent(["a=b; Secure"], to: "http://www.a.test/dir/") == nil)
        #expect(try CookieFixtures.sent(["a=b"], to: "http://www.a.test/dir/") == "a=b")
        let local = "http://localhost:8080/"
        #expect(try CookieFixtures.sent(["a=b; Secure"], from: local, to: local) == "a=b")
        #expect(try CookieFixtures.sent(["a=b"], from: "http://127.0.0.1/", to: "http://127.0.0.2/") == nil)
    }

    @Test("Longer paths come first, then older cookies")
    func order() throws {
        let lines = [
            "a=1; Path=/", "b=2; Path=/dir/sub", "c=3; Path=/dir", "d=4; Path=/", "e=5; Path=/dir/sub", "a=6; Path=/",
        ]
        #expect(try CookieFixtures.sent(lines, to: "https://www.a.test/dir/sub/x") == "b=2; e=5; c=3; a=6; d=4")
    }

    @Test("Cookies without a name or a value are sent unchanged")
    func nameless() throws {
        let lines = ["token", "=other", "a=", "b==c", "q=\"x y\""]
        #expect(try CookieFixtures.sent(lines, to: "https://www.a.test/dir/") == "other; a=; b==c; q=\"x y\"")
    }

    @Test(
        "Max-Age counts before Expires, and no cookie lasts more than 400 days",
        arguments: [
            ("a=b", 1e12, true), ("a=b; Max-Age=10", 9, true), ("a=b; Max-Age=10", 10, false),
            ("a=b; Max-Age=0", 0, false),
            ("a=b; Max-Age=-1", 0, false), ("a=b; Expires=Fri, 15 Jan 2027 08:00:09 GMT", 8, true),
            ("a=b; Expires=Fri, 15 Jan 2027 08:00:09 GMT", 9, false), ("a=b; Expires=1 Jan 1970 0:0:0", 0, false),
            ("a=b; Expires=1 Jan 1970 0:0:0; Max-Age=10", 9, true),
            ("a=b; Max-Age=0; Expires=1 Jan 2030 0:0:0", 0, false),
            ("a=b; Max-Age=99999999999999999999", 34_559_999, true),
            ("a=b; Max-Age=99999999999999999999", 34_560_000, false),
            ("a=b; Expires=1 Jan 9999 0:0:0", 34_560_000, false),
            ("a=b; Expires=nonsense", 1e9, true), ("a=b; Expires=0", 1e9, true),
        ] as [(String, Double, Bool)])
    func expiry(line: String, seconds: Double, isSent: Bool) throws {
        let sent = try CookieFixtures.sent([line], to: "https://www.a.test/dir/", after: seconds)
        #expect(sent == (isSent ? "a=b" : nil))
    }

    @Test("A cookie whose time is over removes the one that it names, and no other")
    func removal() throws {
        let lines = [
            "a=1; Path=/", "a=2", "b=3", "a=; Max-Age=0; Path=/", "b=; Expires=1 Jan 1970 0:0:0; Domain=www.a.test",
        ]
        #expect(try CookieFixtures.sent(lines, to: "https://www.a.test/dir/") == "a=2; b=3")
        #expect(try CookieFixtures.sent(lines + ["a=; Max-Age=0"], to: "https://www.a.test/dir/") == "b=3")
    }

    @Test(
        "SameSite counts only when another site has led to the request (§5.8.3)",
        arguments: [
            ("Strict", HTTPMethod.get, false), ("Strict", .post, false), ("Lax", .get, true), ("Lax", .head, true),
            ("Lax", .post, false), ("Lax", .put, false), ("None", .get, true), ("None", .post, true), ("", .get, true),
            ("", .post, false), ("nonsense", .post, false),
        ])
    func sameSite(value: String, method: HTTPMethod, crosses: Bool) throws {
        let line = "a=b; Secure; SameSite=\(value)"
        let target = "https://www.a.test/dir/"
        #expect(try CookieFixtures.sent([line], to: target, method) == "a=b")
        #expect(try CookieFixtures.sent([line], to: target, method, isCrossSite: true) == (crosses ? "a=b" : nil))
    }

    @Test("No server receives a cookie of another owner's domain, and every field can be written")
    func anything() throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        let hosts = [
            "a.test", "www.a.test", "b.test", "test", "co.uk", "x.co.uk", "y.co.uk", "127.0.0.1", "me.github.io",
        ]
        func pick(_ texts: [String]) -> String { texts[Int.random(in: 0..<texts.count, using: &random)] }
        for _ in 0..<300 {
            var jar = CookieFixtures.jar()
            for number in 0..<12 {
                let host = pick(hosts)
                var line = "n\(number)=\(host)"
                for _ in 0..<3 {
                    line +=
                        "; " + pick(["Domain=", "domain=.", "Path=", "Secure", "SameSite=", "Max-Age="])
                        + pick(hosts + ["/", ""])
                }
                let url = pick(["http://", "https://"]) + host + pick(["/", "/x/y"])
                jar.store(line, from: try CookieFixtures.request(url), at: CookieFixtures.now)
            }
            for host in hosts {
                guard
                    let field = jar.header(for: try CookieFixtures.request("https://\(host)/"), at: CookieFixtures.now)
                else { continue }
                for pair in field.split(separator: "; ") {
                    let owner = String(pair.drop { $0 != "=" }.dropFirst())
                    let isRelated = CookieFixtures.suffixes.site(of: host) == CookieFixtures.suffixes.site(of: owner)
                    #expect(isRelated, "seed \(seed): \(host) got \(pair)")
                }
                #expect(HTTPHeaders([HTTPField(name: .cookie, value: field)]).problem == nil, "seed \(seed)")
            }
        }
    }
}
