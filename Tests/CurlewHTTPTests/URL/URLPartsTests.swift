// SPDX-License-Identifier: MIT

import Testing

@Suite(.timeLimit(.minutes(1)))
struct URLPartsTests {
    @Test(
        "A URL is split into origin and target",
        arguments: [
            ("http://example.com", "http://example.com", "/"),
            ("HTTP://EXAMPLE.com:80/A", "http://example.com", "/A"),
            ("https://example.com:8443?x=1", "https://example.com:8443", "/?x=1"),
            ("https://example.com#top", "https://example.com", "/"),
            ("https://example.com:/a?b#c?d", "https://example.com", "/a?b"),
            ("https://[2001:DB8::7]:99/x", "https://[2001:db8::7]:99", "/x"),
            ("http://[::ffff:1.2.3.4]/", "http://[::ffff:1.2.3.4]", "/"),
            ("http://a/b c/é?q=d e&f=é", "http://a", "/b%20c/%C3%A9?q=d%20e&f=%C3%A9"),
            ("http://a/%7Eb%2F?x=%41", "http://a", "/%7Eb%2F?x=%41"),
            ("http://a/x%zz", "http://a", "/x%zz"),
            ("http://a/\"<>^`{|}?\"<>[]\\", "http://a", "/%22%3C%3E%5E%60%7B%7C%7D?%22%3C%3E%5B%5D%5C"),
            ("http://a//b//c?x?y", "http://a", "//b//c?x?y"),
            ("http://a/../b", "http://a", "/../b"),
            ("http://xn--bcher-kva.example/", "http://xn--bcher-kva.example", "/"),
            ("http://a?", "http://a", "/?"),
        ])
    func split(url: String, origin: String, target: String) throws {
        let parts = try URLParts(url)
        #expect(parts.origin.description == origin)
        #expect(parts.target == target)
        #expect(parts.userinfo == nil)
        #expect(try URLParts(parts.description) == parts)
    }

    @Test(
        "Userinfo is kept apart and never shown",
        arguments: [
            ("http://user:pa%40ss@host/x", "user:pa%40ss"), ("http://us er@host/x", "us%20er"), ("http://@host/x", ""),
            ("http://a:b:c@host/x", "a:b:c"),
        ])
    func userinfo(url: String, expected: String) throws {
        let parts = try URLParts(url)
        #expect(parts.userinfo == expected)
        #expect(parts.description == "http://host/x")
    }

    @Test(
        "A URL that cannot be requested is refused with advice",
        arguments: [
            ("", "scheme"), ("example.com/a", "scheme"), ("example.com:80/a", "scheme"), ("/a/b", "scheme"),
            ("//a/b", "scheme"), ("localhost:80", "scheme"), ("http:/a", "//"), ("http:a", "//"),
            ("ftp://a/", "http and https"), ("file:///etc/passwd", "http and https"), ("http://", "no host"),
            ("http:///a", "no host"), ("http://:80/", "no host"), ("http://user@/", "no host"),
            ("http://a b/", "space"), (" http://a/", "space"), ("http://a/ ", "space"), ("http://a/\n", "control"),
            ("http://a\r\nHost: b/", "control"), ("http://a/\u{0}", "control"), ("http://a\t/", "control"),
            ("http://a%2Fb/", "percent"), ("http://a@b@c/", "@"), ("http://a\\@b/", "backslash"),
            ("http://a\\b/", "backslash"), ("http://a/b\\c", "backslash"), ("http://a:x/", "port"),
            ("http://a:0/", "port"), ("http://a:65536/", "port"), ("http://a:999999/", "port"),
            ("http://a:-1/", "port"), ("http://a:80:80/", "port"), ("http://[::1/", "IPv6"), ("http://[::1]x/", "IPv6"),
            ("http://[1::2::3]/", "IPv6"), ("http://[fe80::1%25eth0]/", "IPv6"), ("http://[]/", "IPv6"),
            ("http://bücher.example/", "punycode"), ("http://a..b/", "empty part"), ("http://a,b/", "letters"),
            ("http://\(String(repeating: "a", count: 64)).b/", "63"),
            ("http://\(String(repeating: "a.", count: 200))b/", "253"),
        ])
    func refused(url: String, hint: String) {
        let problem = #expect(throws: URLProblem.self) { try URLParts(url) }
        #expect(problem?.message.contains(hint) == true, "\(problem?.message ?? "")")
    }

    @Test(
        "IPv6 addresses are read as in RFC 4291 §2.2",
        arguments: [
            ("::", true), ("::1", true), ("1::", true), ("2001:db8::8:800:200c:417a", true),
            ("1:2:3:4:5:6:7:8", true), ("::ffff:129.144.52.38", true), ("1:2:3:4:5:6:7::", true),
            ("::2:3:4:5:6:7:8", true), ("1:2:3:4:5:6:1.2.3.4", true),
            (":", false), (":::", false), ("1:2:3:4:5:6:7", false), ("1:2:3:4:5:6:7:8:9", false), (":1::2", false),
            ("1::2:", false), ("1:2:3:4:5:6:7:8::", false), ("12345::", false), ("::1.2.3", false),
            ("1.2.3.4::", false), ("::1.2.3.256", false), ("g::", false), ("", false), ("1:2:3:4:5:6:7:1.2.3.4", false),
            ("::01.2.3.4", false),
        ])
    func addresses(address: String, valid: Bool) {
        #expect((try? URLParts("http://[\(address)]/")) != nil || !valid)
        #expect((try? URLParts("http://[\(address)]/")) == nil || valid)
    }

    @Test("Random text never traps, and what is taken reads back the same")
    func fuzz() throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2000 {
            guard let parts = try? URLParts("http://host" + random.text(upTo: 20)) else { continue }
            #expect(try URLParts(parts.description).target == parts.target, "seed \(seed)")
            #expect(parts.target.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "seed \(seed)")
        }
    }
}
