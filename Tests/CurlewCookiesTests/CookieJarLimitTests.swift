// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCookies
@testable import CurlewCore

/// What a jar holds at most, and what goes first (RFC 6265bis §5.7).
@Suite(.timeLimit(.minutes(1)))
struct CookieJarLimitTests {
    let now = CookieFixtures.now

    func fill(_ jar: inout CookieJar, _ lines: [String], from url: String = "https://a.test/") throws {
        let request = try CookieFixtures.request(url)
        for (second, line) in lines.enumerated() {
            jar.store(line, from: request, at: now.addingTimeInterval(Double(second)))
        }
    }

    @Test("At most 50 cookies of a domain are kept: the least recently sent one goes")
    func perDomain() throws {
        var jar = CookieFixtures.jar()
        try fill(&jar, (0..<50).map { "c\($0)=1; Path=/\($0)" })
        _ = jar.header(for: try CookieFixtures.request("https://a.test/0"), at: now.addingTimeInterval(100))
        jar.store("new=1", from: try CookieFixtures.request("https://a.test/"), at: now.addingTimeInterval(101))
        #expect(jar.cookies.count == 50)
        #expect(!jar.cookies.contains { $0.name == "c1" }, "c0 has been sent since")
        #expect(jar.cookies.contains { $0.name == "c0" } && jar.cookies.contains { $0.name == "new" })
        try fill(&jar, ["other=1"], from: "https://b.test/")
        #expect(jar.cookies.count == 51)
    }

    @Test("Expired cookies go first, then those without Secure: plain ones displace no secure one")
    func order() throws {
        var limits = CookieStore.Limits()
        limits.perDomain = 3
        var jar = CookieFixtures.jar(limits)
        try fill(&jar, ["s1=1; Secure", "s2=1; Secure", "old=1; Max-Age=3"])
        try fill(&jar, ["a=1", "b=1", "c=1", "d=1", "e=1"])
        #expect(jar.cookies.map(\.name) == ["s1", "s2", "e"])
        try fill(&jar, ["s3=1; Secure", "s4=1; Secure"])
        #expect(jar.cookies.count == 3)
        #expect(jar.cookies.allSatisfy { $0.isSecure })
    }

    @Test("At most 3000 cookies are kept in all, however many hosts set them")
    func total() throws {
        #expect(CookieStore.Limits.standard.total == 3000)
        var limits = CookieStore.Limits()
        limits.total = 100
        var jar = CookieFixtures.jar(limits)
        for host in 0..<150 {
            let request = try CookieFixtures.request("https://h\(host).test/")
            jar.store("a=1", from: request, at: now.addingTimeInterval(Double(host)))
        }
        #expect(jar.cookies.map(\.domain) == (50..<150).map { "h\($0).test" })
    }

    @Test("A Cookie field has at most 16 KiB; the most specific cookies come first")
    func header() throws {
        var jar = CookieFixtures.jar()
        try fill(&jar, (0..<6).map { "c\($0)=\(String(repeating: "x", count: 4000)); Path=/" } + ["near=1; Path=/dir"])
        let field = try #require(jar.header(for: try CookieFixtures.request("https://a.test/dir/x"), at: now))
        #expect(field.utf8.count <= 16 * 1024)
        #expect(field.hasPrefix("near=1; c0=") && field.contains("c3=") && !field.contains("c4="))
    }

    @Test("Limits of zero keep nothing")
    func none() throws {
        for change in [\CookieStore.Limits.perDomain, \.total, \.headerBytes, \.cookieBytes] {
            var limits = CookieStore.Limits()
            limits[keyPath: change] = 0
            var jar = CookieFixtures.jar(limits)
            try fill(&jar, ["a=1", "b=2"])
            #expect(jar.header(for: try CookieFixtures.request("https://a.test/"), at: now) == nil)
        }
    }

    @Test("A jar that was emptied takes as many cookies again")
    func counting() throws {
        var limits = CookieStore.Limits()
        limits.total = 2
        var jar = CookieFixtures.jar(limits)
        for _ in 0..<3 {
            try fill(&jar, ["a=1", "b=1", "a=; Max-Age=0", "c=1"])
            #expect(jar.cookies.map(\.name) == ["b", "c"])
            #expect("\(jar)" == "2 cookies")
            jar.removeAll { _ in true }
            #expect(jar.cookies.isEmpty)
        }
    }
}
