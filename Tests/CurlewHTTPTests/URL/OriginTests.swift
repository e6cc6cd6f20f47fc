// SPDX-License-Identifier: MIT

import Testing

@Suite(.timeLimit(.minutes(1)))
struct OriginTests {
    @Test(
        "Scheme and host are put in lower case, the port is filled in",
        arguments: [
            ("HTTPS", "Example.COM", nil, "https://example.com", "example.com"),
            ("http", "example.com", 80, "http://example.com", "example.com"),
            ("http", "example.com", 8080, "http://example.com:8080", "example.com:8080"),
            ("https", "[2001:DB8::1]", 443, "https://[2001:db8::1]", "[2001:db8::1]"),
            ("https", "::1", 8443, "https://[::1]:8443", "[::1]:8443"),
            ("ws", "localhost", nil, "ws://localhost", "localhost"),
            ("wss", "a.", nil, "wss://a.", "a."),
            ("app", "x", 5, "app://x:5", "x:5"),
        ] as [(String, String, Int?, String, String)])
    func normalised(scheme: String, host: String, port: Int?, text: String, authority: String) throws {
        let origin = try #require(Origin(scheme: scheme, host: host, port: port))
        #expect(origin.description == text)
        #expect(origin.authority == authority)
    }

    @Test(
        "Parts that cannot be sent are refused",
        arguments: [
            ("", "a", nil), ("ht tp", "a", nil), ("1http", "a", nil), ("ftp", "a", nil), ("http", "", nil),
            ("http", "a b", nil), ("http", "a\r\n", nil), ("http", "a@b", nil), ("http", "a/b", nil),
            ("http", "a%41", nil), ("http", "a\\b", nil), ("http", "é.fr", nil), ("http", "[::1", nil),
            ("http", "[::g]", nil), ("http", "a", 0), ("http", "a", 65_536), ("http", "a", -1), ("http", "a:80", nil),
            ("http", "a..b", nil), ("http", ".a", nil), ("http", ".", nil),
        ] as [(String, String, Int?)])
    func refused(scheme: String, host: String, port: Int?) {
        #expect(Origin(scheme: scheme, host: host, port: port) == nil)
    }

    @Test("A name has at most 253 characters, without the dot at its end (RFC 1035 §2.3.4)")
    func longest() {
        let name = String(repeating: "a.", count: 126) + "a"
        #expect(name.utf8.count == 253)
        #expect(Origin(scheme: "http", host: name) != nil && Origin(scheme: "http", host: name + ".") != nil)
        #expect(Origin(scheme: "http", host: name + "a") == nil && Origin(scheme: "http", host: name + "a.") == nil)
    }

    @Test("Scheme, host and port distinguish origins (RFC 6454 §5)")
    func equality() {
        let base = Origin(scheme: "https", host: "example.com")
        #expect(base == Origin(scheme: "HTTPS", host: "EXAMPLE.com", port: 443))
        #expect(base != Origin(scheme: "http", host: "example.com"))
        #expect(base != Origin(scheme: "https", host: "www.example.com"))
        #expect(base != Origin(scheme: "https", host: "example.com", port: 444))
    }

    @Test(
        "Loopback is localhost by name and by address",
        arguments: [
            ("localhost", true), ("LOCALHOST.", true), ("api.localhost", true), ("127.0.0.1", true),
            ("127.255.1.2", true), ("::1", true), ("[::1]", true), ("127.example.com", false), ("127.0.0.1.x", false),
            ("notlocalhost", false), ("localhost.example.com", false), ("128.0.0.1", false), ("127.0.0.256", false),
        ])
    func loopback(host: String, expected: Bool) throws {
        #expect(try #require(Origin(scheme: "http", host: host)).isLoopback == expected)
    }

    @Test(
        "Names of this machine that a resolver may not know have their addresses",
        arguments: [
            ("localhost", nil), ("127.0.0.1", nil), ("[::1]", nil), ("a.example", nil),
            ("localhost.", "127.0.0.1,[::1]"),
            ("api.localhost", "127.0.0.1,[::1]"), ("API.localhost.", "127.0.0.1,[::1]"), ("127.1.2.3.", "127.1.2.3"),
        ] as [(String, String?)])
    func loopbackAddresses(host: String, expected: String?) throws {
        #expect(try #require(Origin(scheme: "http", host: host)).loopbackAddresses == expected)
    }

    @Test("https and wss are secure")
    func secure() {
        #expect(Origin(scheme: "https", host: "a")?.isSecure == true)
        #expect(Origin(scheme: "wss", host: "a")?.isSecure == true)
        #expect(Origin(scheme: "http", host: "a")?.isSecure == false)
        #expect(Origin(scheme: "http", host: "a", port: 443)?.isDefaultPort == false)
    }
}
