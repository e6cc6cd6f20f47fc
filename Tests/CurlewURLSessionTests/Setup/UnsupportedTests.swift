// SPDX-License-Identifier: MIT

import CurlewAuthentication
import TestServers
import Testing

@testable import CurlewURLSession

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What URLSession cannot do is refused, by name.
@Suite(.timeLimit(.minutes(1)))
struct UnsupportedTests {
    private static let pins = TransportConfiguration.TLS.PinSet(hosts: ["a.example"], keys: ["sha256//a", "sha256//b"])

    static let refused: [(TransportConfiguration, String)] = [
        (TransportConfiguration(httpVersions: .http1Only), "httpVersions"),
        (TransportConfiguration(httpVersions: .http2PriorKnowledge), "httpVersions"),
        (TransportConfiguration(pool: TransportConfiguration.Pool(total: 3)), "TransportConfiguration.Pool.total"),
        (
            TransportConfiguration(pool: TransportConfiguration.Pool(lifetime: .seconds(9))),
            "TransportConfiguration.Pool.lifetime"
        ),
        (TransportConfiguration(pool: TransportConfiguration.Pool(idle: 3)), "TransportConfiguration.Pool.idle"),
        (
            TransportConfiguration(pool: TransportConfiguration.Pool(idleLifetime: .seconds(9))),
            "TransportConfiguration.Pool.idleLifetime"
        ),
        (
            TransportConfiguration(pool: TransportConfiguration.Pool(keepAlive: nil)),
            "TransportConfiguration.Pool.keepAlive"
        ),
        (
            TransportConfiguration(pool: TransportConfiguration.Pool(waitsForMultiplexing: false)),
            "waitsForMultiplexing"
        ),
        (
            TransportConfiguration(dns: TransportConfiguration.DNS(addresses: .ipv4)),
            "TransportConfiguration.DNS.addresses"
        ),
        (
            TransportConfiguration(dns: TransportConfiguration.DNS(cacheLifetime: .zero)),
            "TransportConfiguration.DNS.cacheLifetime"
        ),
        (
            TransportConfiguration(
                dns: TransportConfiguration.DNS(overrides: [.init(host: "a.example", target: "b.example")])),
            "TransportConfiguration.DNS.overrides"
        ),
        (TransportConfiguration(unixSocket: "socket"), "unixSocket"),
        (TransportConfiguration(addressPolicy: .publicOnly), "addressPolicy"),
        (TransportConfiguration(localAddress: .interface("lo")), "localAddress"),
    ]

    static let refusedOnLinux: [(TransportConfiguration, String)] = [
        (TransportConfiguration(tls: TransportConfiguration.TLS(minimumVersion: .v13)), "minimumVersion"),
        (TransportConfiguration(tls: TransportConfiguration.TLS(trustedRoots: .file("roots.pem"))), "trustedRoots"),
        (
            TransportConfiguration(tls: TransportConfiguration.TLS(identity: .pkcs12(Data(), passphrase: ""))),
            "identity"
        ),
        (TransportConfiguration(tls: TransportConfiguration.TLS(pins: [pins])), "TransportConfiguration.TLS.pins"),
        (
            TransportConfiguration(proxy: .fixed(TransportConfiguration.Proxy.Server(.http, host: "proxy.example"))),
            "TransportConfiguration.Proxy.fixed"
        ),
        (
            TransportConfiguration(proxy: .fixed(TransportConfiguration.Proxy.Server(.socks5, host: "b.example"))),
            "TransportConfiguration.Proxy.fixed"
        ),
    ]

    @Test("Options that URLSession has nowhere are named", arguments: refused.indices)
    func everywhere(index: Int) async throws {
        let (configuration, name) = Self.refused[index]
        for system in [Platform.apple, .linux] {
            #expect(Unsupported.problems(configuration, on: system).count == 1)
            #expect(Unsupported.problems(configuration, on: system).first?.contains(name) == true)
        }
        let transport = URLSessionTransport(configuration: configuration)
        let error = await transport.failure(.get, "http://127.0.0.1:1/")
        #expect(error?.reason == .configuration)
        #expect(error?.detail.contains(name) == true)
    }

    @Test("Trailers of a request are refused")
    func trailers() async throws {
        let body = RequestBody.stream { .init(AsyncStream { $0.finish() }) }.trailing("X-Sum") { [:] }
        let error = await URLSessionTransport().failure(.post, "http://127.0.0.1:1/", body: body)
        #expect(error?.reason == .configuration)
        #expect(error?.detail.contains("trailers") == true)
    }

    @Test("On Apple platforms, a proxy that wants more than Basic is refused")
    func proxyAuthentication() {
        let proxy = TransportConfiguration.Proxy.Server(
            .http, host: "proxy.example", user: "ada", authentication: .digest)
        let problems = Unsupported.problems(TransportConfiguration(proxy: .fixed(proxy)), on: .apple)
        #expect(
            problems.count == 1
                && problems.first?.contains("TransportConfiguration.Proxy.Server.authentication") == true)
    }

    @Test("Cipher suites have their registered names, or their numbers")
    func cipherSuites() {
        #expect(CipherSuite.name(of: 0x1301) == "TLS_AES_128_GCM_SHA256")
        #expect(CipherSuite.name(of: 0xC02F) == "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256")
        #expect(CipherSuite.name(of: 0x000A) == "0x000A" && CipherSuite.name(of: 0xFFFF) == "0xFFFF")
    }

    @Test("Options that URLSession lacks on Linux are named", arguments: refusedOnLinux.indices)
    func onLinux(index: Int) {
        let (configuration, name) = Self.refusedOnLinux[index]
        #expect(Unsupported.problems(configuration, on: .linux).first?.contains(name) == true)
        #expect(Unsupported.problems(configuration, on: .apple).isEmpty)
    }

    @Test("The defaults and URLSession's own settings are accepted")
    func possible() {
        #expect(Unsupported.problems(TransportConfiguration(), on: .linux).isEmpty)
        #expect(Unsupported.problems(TransportConfiguration(), on: .apple).isEmpty)
        let own = TransportConfiguration(
            proxy: .environment, pool: TransportConfiguration.Pool(perHost: 2), smallBody: 1)
        #expect(Unsupported.problems(own, on: .linux).isEmpty)
    }

    @Test("A proxy in the environment that would be used against the configuration is named")
    func environment() throws {
        let proxies = EnvironmentProxies([
            "http_proxy": "http://user:secret@proxy.example:3128", "no_proxy": "inside.example,10.0.0.0/8",
        ])
        func problem(_ scheme: String, _ host: String, _ proxy: TransportConfiguration.Proxy) throws -> String? {
            proxies.problem(for: try #require(Origin(scheme: scheme, host: host)), proxy)
        }
        let text = try problem("http", "outside.example", .none)
        #expect(text?.contains("outside.example") == true)
        #expect(text?.contains("secret") == false)
        #expect(try problem("http", "outside.example", .environment) == nil)
        #expect(try problem("https", "outside.example", .none) == nil)
        #expect(try problem("http", "api.inside.example", .none) == nil)
        // The library knows no exception for this machine; ours has one.
        #expect(try problem("http", "127.0.0.1", .environment) != nil)
        let origin = try #require(Origin(scheme: "http", host: "a.example"))
        #expect(EnvironmentProxies([:]).problem(for: origin, .none) == nil)
    }

    @Test("A key log in the environment that was not requested is named")
    func keyLog() throws {
        let environment = EnvironmentProxies(["SSLKEYLOGFILE": "keys"])
        let (secure, plain) = (Origin(scheme: "https", host: "a.example"), Origin(scheme: "http", host: "a.example"))
        var tls = TransportConfiguration.TLS()
        #expect(environment.keyLogProblem(for: try #require(secure), tls)?.contains("SSLKEYLOGFILE") == true)
        #expect(environment.keyLogProblem(for: try #require(plain), tls) == nil)
        #expect(EnvironmentProxies([:]).keyLogProblem(for: try #require(secure), tls) == nil)
        tls.obeysKeyLogFile = true
        #expect(environment.keyLogProblem(for: try #require(secure), tls) == nil)
        #expect(Unsupported.problems(TransportConfiguration(tls: tls), on: .apple).count == 1)
    }

    @Test("Fields of an app's configuration that would trap, or begin a line, are named")
    func additionalHeaders() async throws {
        for bad: [AnyHashable: Any] in [["X-Number": 3], [7: "x"], ["X-A": "1\r\nX-B: 2"], ["X A": "1"]] {
            let settings = URLSessionConfiguration.ephemeral
            settings.httpAdditionalHeaders = bad
            #expect(SessionSettings.problem(settings) != nil)
            let error = await URLSessionTransport(session: settings).failure(.get, "http://127.0.0.1:1/")
            #expect(error?.reason == .configuration)
        }
        #expect(SessionSettings.problem(nil) == nil)
        #expect(SessionSettings.problem(.ephemeral) == nil)
    }

    @Test("Requests that would be sent otherwise than they are written are refused")
    func requests() throws {
        func problem(_ url: String, _ system: Platform = .linux) throws -> String? {
            RequestGuard.problem(try HTTPRequest(.post, url: url, body: .bytes(Data())), on: system)?.text
        }
        #expect(try problem("http://[::1]/")?.contains("IPv6") == true)
        #expect(try problem("http://[::1]/", .apple) == nil)
        let host = "http://a.example"
        for path in ["/a/../b", "/a/./b", "/a/%2e%2E/b", "/.."] { #expect(try problem(host + path) != nil) }
        for path in ["/a/.b", "/a..b/", "/?x=/../", "/..."] { #expect(try problem(host + path) == nil) }
    }

    @Test("Every code of URLError has its reason")
    func codes() {
        func reason(_ code: Int, _ text: String = "", secure: Bool = true, head: Bool = false) -> NetworkError.Reason {
            SystemFailure.reason(for: code, text, isSecure: secure, hasHead: head)
        }
        #expect(reason(NSURLErrorCannotFindHost) == .unreachable)
        #expect(reason(NSURLErrorNotConnectedToInternet) == .unreachable)
        #expect(reason(NSURLErrorTimedOut) == .timedOut(.connect))
        #expect(reason(NSURLErrorTimedOut, head: true) == .timedOut(.idle))
        #expect(reason(NSURLErrorServerCertificateHasBadDate) == .secureConnectionFailed(.expired))
        #expect(reason(NSURLErrorServerCertificateNotYetValid) == .secureConnectionFailed(.notYetValid))
        #expect(reason(NSURLErrorServerCertificateUntrusted) == .secureConnectionFailed(.untrusted))
        #expect(reason(NSURLErrorServerCertificateHasUnknownRoot) == .secureConnectionFailed(.untrusted))
        #expect(reason(NSURLErrorClientCertificateRequired) == .secureConnectionFailed(.clientCertificate))
        #expect(reason(NSURLErrorSecureConnectionFailed) == .secureConnectionFailed(.handshake))
        #expect(reason(NSURLErrorNetworkConnectionLost) == .connectionLost(.requestMayHaveArrived))
        #expect(reason(NSURLErrorCannotDecodeContentData) == .badResponse)
        #expect(reason(NSURLErrorBadURL) == .invalidRequest)
        #expect(reason(NSURLErrorCancelled) == .connectionLost(.requestMayHaveArrived), "by the system, not by us")
        let texts: [(String, NetworkError.Reason)] = [
            ("SSL certificate problem: certificate has expired", .secureConnectionFailed(.expired)),
            ("SSL: no alternative certificate subject name matches", .secureConnectionFailed(.wrongHost)),
            ("SSL certificate problem: unable to get issuer", .secureConnectionFailed(.untrusted)),
            ("transfer closed with 9 bytes remaining", .connectionLost(.requestMayHaveArrived)),
        ]
        for (text, expected) in texts { #expect(reason(NSURLErrorUnknown, text) == expected) }
        #expect(reason(NSURLErrorUnknown, "certificate", secure: false) == .connectionLost(.requestMayHaveArrived))
    }
}
