// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCurl

/// Through proxies, and past them.
@Suite(.timeLimit(.minutes(1)))
struct ProxyTests {
    private func transport(
        _ kind: TransportConfiguration.Proxy.Server.Kind, _ port: Int,
        credentials: (user: String, password: String)? = nil,
        bypassing: [String] = [], tls: TransportConfiguration.TLS = TransportConfiguration.TLS()
    ) -> CurlTransport {
        let proxy = TransportConfiguration.Proxy.Server(
            kind, host: "127.0.0.1", port: port, user: credentials?.user, password: credentials?.password)
        return CurlTransport(
            configuration: TransportConfiguration(tls: tls, proxy: .fixed(proxy, bypassing: bypassing)))
    }

    @Test("A tunnel shows the proxy host, port and credentials, and the server none of these")
    func tunnel() async throws {
        let nginx = try await Nginx.shared()
        let proxy = try LoopbackProxy(.http, needsCredentials: true)
        let transport = transport(
            .http, proxy.port, credentials: LoopbackProxy.credentials, tls: nginx.configuration.tls)
        for _ in 0..<2 {
            let response = try await transport.exchange(
                .get, nginx.secure() + "/connection?secret=1",
                headers: ["X-Value": "own", "Authorization": "Bearer secret"])
            #expect(try await response.text().hasSuffix("HTTP/2.0 own"))
        }
        let head = try #require(proxy.asked.first)
        #expect(proxy.asked.count == 1)
        #expect(head.hasPrefix("CONNECT localhost:"))
        #expect(head.contains("Proxy-Authorization: Basic "))
        #expect(!head.contains("secret") && !head.contains("X-Value"))

        let server = try RawServer { connection in
            let head = try connection.readHead()
            try connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(head.utf8.count)\r\n\r\n\(head)")
        }
        let socks = try LoopbackProxy(.socks5, needsCredentials: true)
        let direct = self.transport(.socks5, socks.port, credentials: LoopbackProxy.credentials)
        let seen = try await direct.exchange(.get, "http://service.example:\(server.port)/").text()
        #expect(seen.hasPrefix("GET / HTTP/1.1\r\n") && !seen.contains("Proxy-"))
    }

    @Test("A SOCKS proxy gets the name, not an address", arguments: [true, false])
    func socks(needsCredentials: Bool) async throws {
        let server = try MockServer.always(.text("hello"))
        let proxy = try LoopbackProxy(.socks5, needsCredentials: needsCredentials)
        let transport = transport(
            .socks5, proxy.port, credentials: needsCredentials ? LoopbackProxy.credentials : nil)
        let url = "http://service.example:\(server.port)/"
        #expect(try await transport.exchange(.get, url).text() == "hello")
        #expect(proxy.asked == ["service.example:\(server.port)"])
    }

    @Test("An empty query reaches the server through a SOCKS proxy and through a tunnel", arguments: [true, false])
    func emptyQuery(isSOCKS: Bool) async throws {
        let server = try MockServer.always(.text("hello"))
        let proxy = try LoopbackProxy(isSOCKS ? .socks5 : .http)
        let settings = TransportConfiguration.Proxy.Server(
            isSOCKS ? .socks5 : .http, host: "127.0.0.1", port: proxy.port, user: isSOCKS ? nil : "ada",
            authentication: isSOCKS ? .basic : .digest)
        let transport = CurlTransport(configuration: TransportConfiguration(proxy: .fixed(settings)))
        let response = try await transport.exchange(.get, "http://service.example:\(server.port)/?")
        #expect(try await response.text() == "hello")
        #expect(server.requests.map(\.target) == ["/?"])
    }

    @Test("Only an HTTP proxy without a tunnel receives complete URLs")
    func completeURLs() throws {
        let (plain, secure) = (try #require(Origin(scheme: "http", host: "a")), Origin(scheme: "https", host: "a"))
        for kind in [TransportConfiguration.Proxy.Server.Kind.http, .https] {
            #expect(TransportConfiguration.Proxy.Server(kind, host: "proxy").receivesURLs(to: plain))
            #expect(try !TransportConfiguration.Proxy.Server(kind, host: "proxy").receivesURLs(to: #require(secure)))
            let digest = TransportConfiguration.Proxy.Server(kind, host: "proxy", user: "ada", authentication: .digest)
            #expect(!digest.receivesURLs(to: plain))
        }
        #expect(!TransportConfiguration.Proxy.Server(.socks5, host: "proxy").receivesURLs(to: plain))
    }

    @Test("A proxy may be reached over TLS, and is verified like a server")
    func secureProxy() async throws {
        let nginx = try await Nginx.shared()
        let server = try await PythonTLSServer.start(nginx.certificates, asksForCertificates: false)
        let url = "http://service.example/a"
        let trusting = transport(.https, server.port, tls: nginx.configuration.tls)
        #expect(try await trusting.exchange(.get, url).text() == "GET \(url) HTTP/1.1")
        let error = try #require(await transport(.https, server.port).failure(.get, url))
        #expect(error.reason == .secureConnectionFailed(.untrusted))
    }

    @Test("A tunnel through a proxy behind TLS carries TLS of its own, and HTTP/2 in it")
    func secureTunnel() async throws {
        let nginx = try await Nginx.shared()
        let proxy = try await onThread { try SecureProxy(nginx.certificates) }
        let transport = transport(.https, proxy.port, tls: nginx.configuration.tls)
        for _ in 0..<2 {
            let response = try await transport.exchange(.get, nginx.secure() + "/body.bin")
            #expect(response.version == .http2)
            #expect(try await response.data() == pattern(3_000_000))
        }
        #expect(transport.snapshot.connectionsOpened == 1)
    }

    @Test("Listed hosts are reached directly", arguments: ["127.0.0.0/8", "localhost, 127.0.0.1", "*"])
    func bypass(list: String) async throws {
        let server = try MockServer.always(.text("direct"))
        let proxy = try LoopbackProxy(.http)
        let entries = list.split { $0 == "," || $0 == " " }.map(String.init)
        let transport = transport(.http, proxy.port, bypassing: entries)
        #expect(try await transport.exchange(.get, server.url + "/").text() == "direct")
        #expect(proxy.asked.isEmpty)
        if list != "*" {
            _ = try await transport.exchange(.get, "http://service.example/")
            #expect(try await transport.exchange(.get, server.url + "/").text() == "direct")
            #expect(proxy.asked.count == 1)
        }
    }

    @Test("An HTTP proxy that refuses the tunnel is reported with its status", arguments: [403, 407, 502, 503])
    func refused(status: Int) async throws {
        let proxy = try LoopbackProxy(.http, refusal: status)
        let transport = transport(.http, proxy.port, bypassing: ["127.0.0.1"])
        let error = try #require(
            await transport.failure(.post, "https://service.example/", body: .bytes(Data("body".utf8))))
        #expect(
            error.reason == .proxyFailed(status == 407 ? .notAuthenticated : .refused(HTTPStatus(status))))
        #expect(error.isRetryable == (status > 500))
        #expect(error.response == nil)
        expectTexts(error)
        // Nothing of it is left for the next call on the same handle.
        let (socket, port) = try LoopbackPort.refusing()
        defer { close(socket) }
        let next = await outcome(Task { try await transport.exchange(.get, "https://127.0.0.1:\(port)/") })
        #expect(next.reason == .unreachable)
    }

    @Test(
        "A SOCKS proxy says whether it refuses or the server cannot be reached",
        arguments: [(2, .proxyFailed(.refused(nil))), (4, .unreachable), (5, .unreachable)]
            as [(Int, NetworkError.Reason)])
    func socksRefusal(code: Int, reason: NetworkError.Reason) async throws {
        let proxy = try LoopbackProxy(.socks5, refusal: code)
        let error = try #require(await transport(.socks5, proxy.port).failure(.get, "http://service.example/"))
        #expect(error.reason == reason)
        expectTexts(error)
    }

    @Test("An invalid proxy is refused before anything is opened")
    func problem() async throws {
        let proxy = TransportConfiguration.Proxy.Server(.http, host: "no host", user: "user", password: "sesame")
        let error = try await #require(throws: NetworkError.self) {
            try await CurlTransport(configuration: TransportConfiguration(proxy: .fixed(proxy)))
                .exchange(.get, "http://service.example/")
        }
        #expect(error.reason == .configuration)
        #expect(error.detail.contains("TransportConfiguration.proxy") && !error.detail.contains("sesame"))
        expectTexts(error)
    }

    @Test("The environment counts on request, as it was when the transport was made")
    func environment() async {
        await #expect(processExitsWith: .success) {
            let proxy = try LoopbackProxy(.http)
            setenv("http_proxy", "http://127.0.0.1:\(proxy.port)", 1)
            setenv("no_proxy", "direct.example", 1)
            let transport = CurlTransport(configuration: TransportConfiguration(proxy: .environment))
            setenv("http_proxy", "http://127.0.0.1:1", 1)
            setenv("no_proxy", "*", 1)
            for name in ["a", "b"] {
                let response = try await transport.exchange(.get, "http://\(name).invalid/")
                #expect(try await response.text() == "GET http://\(name).invalid/ HTTP/1.1")
            }
            #expect(proxy.asked.count == 2)
        }
    }

    @Test("Unrequested, the environment does not count, and exempts no host from a fixed proxy")
    func ignored() async {
        await #expect(processExitsWith: .success) {
            let (fixed, other) = (try LoopbackProxy(.http), try LoopbackProxy(.http))
            for name in ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"] {
                setenv(name, "http://127.0.0.1:\(other.port)", 1)
            }
            let server = try RawServer { connection in
                _ = try connection.readHead()
                try connection.write("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\ndirect")
            }
            #expect(try await CurlTransport().exchange(.get, server.url).text() == "direct")
            for name in ["no_proxy", "NO_PROXY"] { setenv(name, "*", 1) }
            let proxy = TransportConfiguration.Proxy.Server(.http, host: "127.0.0.1", port: fixed.port)
            let transport = CurlTransport(configuration: TransportConfiguration(proxy: .fixed(proxy)))
            let text = try await transport.exchange(.get, "http://a.invalid/").text()
            #expect(text == "GET http://a.invalid/ HTTP/1.1")
            #expect(fixed.asked.count == 1 && other.asked.isEmpty)
        }
    }
}
