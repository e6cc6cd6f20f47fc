// SPDX-License-Identifier: MIT

import CurlewAuthentication
import Testing

/// Proxies that want more than Basic.
@Suite(.timeLimit(.minutes(1)))
struct ProxyAuthenticationTests {
    private func transport(
        _ port: Int, _ authentication: TransportConfiguration.Proxy.Server.Authentication, user: String? = "ada",
        password: String? = "p:w",
        tls: TransportConfiguration.TLS = TransportConfiguration.TLS()
    ) -> CurlTransport {
        let proxy = TransportConfiguration.Proxy.Server(
            .http, host: "127.0.0.1", port: port, user: user, password: password, authentication: authentication)
        return CurlTransport(configuration: TransportConfiguration(tls: tls, proxy: .fixed(proxy)))
    }

    @Test("Digest opens a tunnel through a real proxy, once for a connection, and shows no password")
    func digest() async throws {
        let nginx = try await Nginx.shared()
        let proxy = try await DigestServer.proxy()
        let transport = transport(proxy.port, .digest, tls: nginx.configuration.tls)
        for _ in 0..<3 {
            let response = try await transport.exchange(.get, nginx.secure() + "/connection")
            #expect(try await response.text().contains("HTTP/2.0"))
        }
        await transport.shutdown()
        #expect(await eventually { proxy.requests.count == 2 })
        #expect(proxy.requests.first?.hasSuffix("| -") == true)
        #expect(proxy.requests.last?.contains("| Digest username=") == true)
        #expect(!proxy.requests.contains { $0.contains("Basic") || $0.contains("p:w") })
    }

    @Test("With Digest plain requests go through a tunnel too, and a POST is sent once")
    func plain() async throws {
        let server = try MockServer.always(.text("ok"), to: .post)
        let proxy = try await DigestServer.proxy()
        let transport = transport(proxy.port, .digest)
        let response = try await transport.exchange(.post, server.url + "/", body: .bytes(Data("once".utf8)))
        #expect(try await response.text() == "ok")
        #expect(server.requests.map(\.body) == [Data("once".utf8)])
        #expect(server.requests.first?.headers.contains("Proxy-Authorization") == false)
    }

    @Test("A wrong password is the proxy's refusal")
    func wrongPassword() async throws {
        let nginx = try await Nginx.shared()
        let proxy = try await DigestServer.proxy()
        for url in [nginx.secure(), nginx.plain] {
            let transport = transport(proxy.port, .digest, password: "wrong", tls: nginx.configuration.tls)
            let error = try #require(await transport.failure(.get, url + "/empty"))
            #expect(error.reason == .proxyFailed(.notAuthenticated))
        }
    }

    @Test("A proxy that asks for Basic gets no credential configured for Digest, nor the reverse")
    func otherScheme() async throws {
        let nginx = try await Nginx.shared()
        let basic = try LoopbackProxy(.http, needsCredentials: true)
        let (user, password) = LoopbackProxy.credentials
        for authentication in [TransportConfiguration.Proxy.Server.Authentication.digest, .negotiate] {
            let transport = transport(
                basic.port, authentication, user: user, password: password, tls: nginx.configuration.tls)
            let error = try #require(await transport.failure(.get, nginx.secure() + "/empty"))
            // Not every libcurl can do Negotiate.
            let isImpossible = authentication == .negotiate && error.reason == .configuration
            #expect(error.reason == .proxyFailed(.notAuthenticated) || isImpossible)
        }
        #expect(!basic.asked.isEmpty && !basic.asked.contains { $0.contains("Basic") })

        let digest = try await DigestServer.proxy()
        let transport = transport(digest.port, .basic, tls: nginx.configuration.tls)
        let error = try #require(await transport.failure(.get, nginx.secure() + "/empty"))
        #expect(error.reason == .proxyFailed(.notAuthenticated))
    }

    @Test("A proxy that cannot work is a problem of the configuration")
    func problems() {
        func problems(_ proxy: TransportConfiguration.Proxy.Server) -> [String] {
            TransportConfiguration(proxy: .fixed(proxy)).problems
        }
        #expect(
            problems(TransportConfiguration.Proxy.Server(.socks5, host: "p", user: "u", authentication: .digest)).count
                == 1)
        #expect(problems(TransportConfiguration.Proxy.Server(.http, host: "p", authentication: .digest)).count == 1)
        #expect(problems(TransportConfiguration.Proxy.Server(.http, host: "p", authentication: .negotiate)).isEmpty)
        #expect(
            problems(TransportConfiguration.Proxy.Server(.https, host: "p", user: "u", authentication: .digest)).isEmpty
        )
    }
}
