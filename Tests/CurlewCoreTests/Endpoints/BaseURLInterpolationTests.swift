// SPDX-License-Identifier: MIT

import Testing

/// Values in a base URL: they cannot change where the calls go.
@Suite(.timeLimit(.minutes(1)))
struct BaseURLInterpolationTests {
    static let hostile = [
        "evil.example/", "evil.example", "evil.example#", "evil.example?", "evil.example:80", "user@evil.example", "x@",
        "evil.example\\", "evil.example%2F", "evil.example\u{0}", "evil.example\n", " ", "", ".", "..", ".evil",
        "evil.", "[::1]", "/", "//evil.example", "https://evil.example", "a..b", "évil", "a/\u{301}", "-\u{301}",
    ]

    @Test("A value in the host leaves the calls beneath what the literal shows", arguments: hostile)
    func tenant(value: String) {
        for base: BaseURL in [
            "https://\(value).api.example.com/v1", "https://api-\(value).example.com/v1",
            "https://\(value)-eu.api.example.com:444/v1",
        ] {
            #expect(base.origin?.host.hasSuffix(".example.com") ?? true, "\(base)")
            #expect(base.problem?.reason == .invalidRequest || base.origin?.scheme == "https", "\(base)")
        }
        for base: BaseURL in [
            "https://api.example.com\(value)", "https://api.example.com\(value)/v1", "https://api.example.com:\(value)",
            "https://api.example.com:4\(value)/", "http\(value)://api.example.com", "https://api.example\(value):443/",
        ] {
            #expect(base.origin == nil, "\(base)")
            #expect(base.problem?.reason == .invalidRequest, "\(base)")
        }
    }

    @Test(
        "A value in the path is one segment",
        arguments: ["a/b", "a?b", "a#b", "a;b", "..", ".", "..;x", "", "a\\b", "é"])
    func segment(value: String) {
        let base: BaseURL = "https://api.example.com/v1/\(value)/x"
        if let origin = base.origin {
            #expect(origin.host == "api.example.com")
            #expect(base.path.utf8.count { $0 == UInt8(ascii: "/") } == 3)
            #expect(!base.path.utf8.contains(UInt8(ascii: ";")))
        } else {
            #expect(["..", ".", "..;x", ""].contains(value))
        }
    }

    @Test("Interpolated schemes, hosts, ports and paths form the URL that the text spells")
    func meant() throws {
        let (tenant, region, port) = ("acme", "eu-west-1", 8080)
        #expect(("https://\(tenant).api.example.com/v1" as BaseURL) == "https://acme.api.example.com/v1")
        #expect(("https://\("a.b").example.com" as BaseURL) == "https://a.b.example.com")
        #expect(("https://api-\(region).example.com" as BaseURL) == "https://api-eu-west-1.example.com")
        #expect(("https://\(region)-api.example.com" as BaseURL) == "https://eu-west-1-api.example.com")
        #expect(("https://api.\("example.com")/v1" as BaseURL) == "https://api.example.com/v1")
        #expect(("https://\("example.com"):\(port)/v\(2)" as BaseURL) == "https://example.com:8080/v2")
        #expect(("http://worker\(3):80" as BaseURL) == "http://worker3")
        #expect(("http://10.0.0.\(7)" as BaseURL) == "http://10.0.0.7")
        #expect(("http://[\("::1")]:\("81")" as BaseURL) == "http://[::1]:81")
        #expect(("http\("s")://example.com" as BaseURL) == "https://example.com")
        let url = "http://127.0.0.1:8080"
        #expect(("\(url)" as BaseURL) == "http://127.0.0.1:8080")
        #expect(("\(url)/v1/\(tenant)" as BaseURL) == "http://127.0.0.1:8080/v1/acme")
        #expect(("\(try #require(URL(string: url)))/x" as BaseURL) == "http://127.0.0.1:8080/x")
        #expect(("\(try BaseURL(url))/x" as BaseURL) == "http://127.0.0.1:8080/x")
        #expect(("\(try #require(try BaseURL(url).origin))" as BaseURL) == "http://127.0.0.1:8080")
        #expect(("https://\(raw: "a.example:81/b/c")" as BaseURL) == "https://a.example:81/b/c")
    }
}
