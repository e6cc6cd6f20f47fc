// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore

/// Which request goes through which proxy.
@Suite(.timeLimit(.minutes(1)))
struct ProxyRulesTests {
    private func proxy(_ environment: [String: String], _ url: String) throws -> String? {
        let origin = try HTTPRequest(.get, url: url).origin
        return ProxyRules(.environment, environment: environment).proxy(for: origin)?.url
    }

    @Test(
        "The scheme of the request chooses the variable; HTTP_PROXY never counts",
        arguments: [
            (["http_proxy": "http://p:1"], "http://p:1", nil), (["HTTP_PROXY": "http://p:1"], nil, nil),
            (["https_proxy": "p:2"], nil, "http://p:2"), (["HTTPS_PROXY": "p:2"], nil, "http://p:2"),
            (["https_proxy": "p:2", "HTTPS_PROXY": "q:2"], nil, "http://p:2"),
            (["all_proxy": "socks5://p"], "socks5h://p:1080", "socks5h://p:1080"),
            (["ALL_PROXY": "https://p"], "https://p:443", "https://p:443"),
            (["http_proxy": "a:1", "https_proxy": "", "ALL_PROXY": "b:1"], "http://a:1", "http://b:1"),
            ([:], nil, nil), (["http_proxy": ""], nil, nil),
        ] as [([String: String], String?, String?)])
    func variables(environment: [String: String], http: String?, https: String?) throws {
        #expect(try proxy(environment, "http://service.example/") == http)
        #expect(try proxy(environment, "https://service.example/") == https)
    }

    @Test("The environment counts only on request, and this machine is always reached directly")
    func direct() throws {
        let origin = try HTTPRequest(.get, url: "http://service.example/").origin
        let environment = ["http_proxy": "p:1", "all_proxy": "p:1"]
        #expect(ProxyRules(.none, environment: environment).proxy(for: origin) == nil)
        for host in ["localhost", "127.0.0.1", "127.9.9.9", "[::1]", "a.localhost"] {
            #expect(try proxy(environment, "http://\(host):8080/") == nil, "\(host)")
        }
    }

    @Test(
        "NO_PROXY lists hosts, domains and networks that are reached without a proxy",
        arguments: [
            ("example.com", "example.com", true), ("example.com", "a.b.example.com", true),
            (".example.com", "example.com", true), ("*.example.com", "a.example.com", true),
            ("EXAMPLE.com.", "example.com", true), ("example.com", "example.com.", true),
            ("example.com", "notexample.com", false), ("a.example.com", "example.com", false),
            ("other, example.com", "example.com", true), ("other example.com", "example.com", true),
            ("example.com:8080", "example.com", false), ("example.com:80", "example.com", true),
            ("*", "anything.example", true), ("*:443", "anything.example", false),
            ("10.0.0.0/8", "10.1.2.3", true), ("10.0.0.0/8", "11.1.2.3", false), ("10.1.2.3", "10.1.2.3", true),
            ("192.168.16.0/20", "192.168.31.255", true), ("192.168.16.0/20", "192.168.32.0", false),
            ("0.0.0.0/0", "8.8.8.8", true), ("10.1.2.3:80", "10.1.2.3", true), ("1.2.3", "10.1.2.3", false),
            ("fd00::/8", "[fd12::1]", true), ("fd00::/8", "[fe80::1]", false), ("[fd12::1]:80", "[fd12::1]", true),
            ("fd12:0::1", "[fd12::1]", true), ("10.0.0.0/8", "ten.example", false), ("", "example.com", false),
            ("10.0.0.0/33,a b:c", "10.0.0.1", false),
        ] as [(String, String, Bool)])
    func bypass(list: String, host: String, isDirect: Bool) throws {
        for name in ["no_proxy", "NO_PROXY"] {
            let found = try proxy(["http_proxy": "p:1", name: list], "http://\(host)/")
            #expect((found == nil) == isDirect)
        }
    }

    @Test(
        "The URL of a proxy names its scheme, host, port and credentials",
        arguments: [
            ("http://p.example:3128/", "http://p.example:3128", nil, nil),
            ("p.example", "http://p.example:80", nil, nil),
            ("HTTPS://p.example", "https://p.example:443", nil, nil), ("[::1]:3128", "http://[::1]:3128", nil, nil),
            ("socks5h://u:p%40%3A@p.example", "socks5h://p.example:1080", "u", "p@:"),
            ("http://u@p.example:1", "http://p.example:1", "u", ""),
            ("http://u:a@b@p.example:1", "http://p.example:1", "u", "a@b"),
        ] as [(String, String, String?, String?)])
    func urls(text: String, url: String, user: String?, password: String?) throws {
        let proxy = try #require(TransportConfiguration.Proxy.Server(text))
        #expect(proxy.url == url)
        #expect(proxy.user == user && proxy.password == password)
        #expect(!"\(proxy)".contains("p%40") && !"\(proxy)".contains("@b"))
    }

    @Test(
        "An invalid proxy URL is a problem that names the variable and hides credentials",
        arguments: [
            "ftp://p.example", "http://", "http://p.example:0", "http://p.example:99999", "http://p.example/path",
            "http://secret:secret@p example", "http://p.example:80x", "http://%zz:secret@p.example",
        ])
    func badURLs(text: String) {
        #expect(TransportConfiguration.Proxy.Server(text) == nil)
        let problems = ProxyRules(.environment, environment: ["all_proxy": text]).problems
        #expect(problems.count == 1 && problems[0].contains("all_proxy") && !problems[0].contains("secret"))
    }

    @Test("An entry of a no-proxy list in code has to be valid")
    func badEntries() {
        let proxy = TransportConfiguration.Proxy.Server(.http, host: "p.example")
        let configuration = TransportConfiguration(
            proxy: .fixed(proxy, bypassing: ["a.example", "10.0.0.0/33", "a/b"]))
        #expect(configuration.problems.count == 2)
    }

    @Test("No description of a proxy shows credentials")
    func secrets() {
        let proxy = TransportConfiguration.Proxy.Server(
            .socks5, host: "p.example", user: "secret-user", password: "secret-word")
        let configuration = TransportConfiguration(proxy: .fixed(proxy))
        var dumped = ""
        dump(configuration, to: &dumped)
        for text in ["\(proxy)", "\(configuration)", String(reflecting: configuration), dumped] {
            #expect(text.contains("p.example") && !text.contains("secret"), "\(text)")
        }
    }

    @Test("A fixed proxy elsewhere is not used for this machine; a proxy on this machine is")
    func fixed() throws {
        for host in ["localhost", "app.localhost", "127.0.0.1", "[::1]"] {
            let origin = try #require(Origin(scheme: "http", host: host, port: 8080))
            let elsewhere = ProxyRules(
                .fixed(TransportConfiguration.Proxy.Server(.http, host: "proxy.example", port: 3128)))
            #expect(elsewhere.proxy(for: origin) == nil, "\(host)")
            let here = ProxyRules(.fixed(TransportConfiguration.Proxy.Server(.http, host: "127.0.0.1", port: 3128)))
            #expect(here.proxy(for: origin) != nil, "\(host)")
        }
    }
}
