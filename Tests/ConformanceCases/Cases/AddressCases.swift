// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewTesting

/// Cases for proxies, Unix domain sockets, and the addresses of hosts.
enum AddressCases {
    static let all = addresses + proxies + tunnels

    private static let addresses = [
        ConformanceCase("an IPv6 address in the URL is reached", .addresses, rule: "RFC 3986 §3.2.2") { trial in
            var configuration = MockServer.Configuration()
            configuration.address = .ipv6
            let server = try trial.server(configuration)
            server.enqueue(.text("six"))
            try await trial.expectText(trial.exchange(.get, server.url + "/"), "six")
            try trial.equal(try trial.only(server).headers[.host], "[::1]:\(server.port)", "Host")
        },
        ConformanceCase(
            "a name with several addresses is reached by the one that answers", .addresses, rule: "RFC 8305"
        ) {
            trial in
            // The name "localhost" may also resolve to ::1, where no server listens.
            let server = try trial.server(answering: .text("hello"))
            try await trial.expectText(trial.exchange(.get, "http://localhost:\(server.port)/"), "hello")
        },
        ConformanceCase(
            "names of this machine never leave it: they are reached without the DNS, or refused", .addresses,
            rule: "RFC 6761 §6.3"
        ) { trial in
            for name in ["app.localhost", "a.b.localhost", "localhost.", "127.0.0.1.", "app.localhost."] {
                let server = try trial.server(answering: .text("hello"))
                do {
                    let response = try await trial.exchange(.get, "http://\(name):\(server.port)/")
                    try await trial.expectText(response, "hello")
                } catch let error as NetworkError where error.reason == .invalidRequest {
                    continue
                }
            }
        },
        ConformanceCase(
            "an override changes the address of a request, and nothing else", .addresses,
            rule: "TransportConfiguration.DNS.Override"
        ) { trial in
            let server = try trial.server(answering: .text("hello"))
            var configuration = TransportConfiguration()
            configuration.dns.overrides = [
                .init(host: "service.example", port: 80, target: "127.0.0.1", targetPort: server.port)
            ]
            let response = try await trial.exchange(
                .get, "http://service.example/", over: trial.transport(configuration))
            try await trial.expectText(response, "hello")
            try trial.equal(try trial.only(server).headers[.host], "service.example", "Host")
        },
        ConformanceCase(
            "a Unix domain socket takes every request, with the host of its URL", .addresses, needs: [.unixSocket],
            rule: "TransportConfiguration.unixSocket"
        ) { trial in
            let configuration = TransportConfiguration(unixSocket: try trial.address(.unixSocket))
            let transport = try trial.transport(configuration)
            for host in ["service.example", "other.example:81"] {
                try await trial.expectText(trial.exchange(.get, "http://\(host)/host", over: transport), host)
            }
            let response = try await trial.exchange(.get, "http://service.example/body.bin", over: transport)
            try trial.equal(try await response.data(), MockResponse.pattern(0..<3_000_000), "a large body")
        },
        ConformanceCase(
            "a Unix domain socket without a listener is unreachable", .addresses,
            rule: "TransportConfiguration.unixSocket"
        ) { trial in
            let path = try trial.file(Data()) + "-none"
            let transport = try trial.transport(TransportConfiguration(unixSocket: path))
            try await trial.expectFailure(.unreachable) {
                _ = try await trial.exchange(.get, "http://service.example/", over: transport)
            }
        },
    ]

    private static let proxies =
        [
            ConformanceCase(
                "an HTTP proxy gets the whole URL of a plain request, and no name is looked up", .addresses,
                rule: "RFC 9112 §3.2.2"
            ) { trial in
                // A server that receives complete URLs as targets is a proxy.
                let server = try trial.server(answering: .text("from the proxy"))
                let transport = try trial.transport(
                    .init(
                        proxy: .fixed(TransportConfiguration.Proxy.Server(.http, host: "127.0.0.1", port: server.port)))
                )
                let response = try await trial.exchange(.get, "http://service.invalid:81/a?b=c", over: transport)
                try await trial.expectText(response, "from the proxy")
                let request = try trial.only(server)
                try trial.equal(request.target, "http://service.invalid:81/a?b=c", "the target")
                try trial.equal(request.headers[.host], "service.invalid:81", "Host")
            },
            ConformanceCase(
                "hosts of the list are reached directly", .addresses, rule: "TransportConfiguration.Proxy.fixed"
            ) {
                trial in
                let server = try trial.server(answering: .text("direct"))
                let proxy = TransportConfiguration.Proxy.Server(.http, host: "127.0.0.1", port: 1)
                let configuration = TransportConfiguration(proxy: .fixed(proxy, bypassing: ["127.0.0.0/8"]))
                let response = try await trial.exchange(.get, server.url + "/", over: trial.transport(configuration))
                try await trial.expectText(response, "direct")
                try trial.equal(try trial.only(server).target, "/", "the target")
            },
            ConformanceCase(
                "a proxy that is not there is distinguished from a server that is not", .addresses,
                rule: "NetworkError.ProxyFailure"
            ) { trial in
                let server = try trial.server()
                server.stop()
                let proxy = TransportConfiguration.Proxy.Server(.http, host: "127.0.0.1", port: server.port)
                let transport = try trial.transport(TransportConfiguration(proxy: .fixed(proxy)))
                try await trial.expectFailure(.proxyFailed(.unreachable)) {
                    _ = try await trial.exchange(.get, "http://service.example/", over: transport)
                }
            },
            ConformanceCase(
                "a proxy that breaks off before the tunnel is there has refused it", .addresses, rule: "RFC 9110 §9.3.6"
            ) { trial in
                let server = try trial.server(answering: .closeBeforeReply)
                let proxy = TransportConfiguration.Proxy.Server(.http, host: "127.0.0.1", port: server.port)
                let transport = try trial.transport(TransportConfiguration(proxy: .fixed(proxy)))
                try await trial.expectFailure(.proxyFailed(.refused(nil))) {
                    let body = RequestBody.bytes(Data("x".utf8))
                    _ = try await trial.exchange(.post, "https://service.example/", body: body, over: transport)
                }
            },
        ]
        + [403, 407, 502].map { code in
            ConformanceCase(
                "a proxy that answers \(code) to a tunnel has refused it", .addresses, rule: "RFC 9110 §9.3.6, §15.5.8"
            ) { trial in
                let server = try trial.server()
                server.on(nil, "/*path", respond: .status(HTTPStatus(code)))
                server.enqueue(.status(HTTPStatus(code)))
                let proxy = TransportConfiguration.Proxy.Server(.http, host: "127.0.0.1", port: server.port)
                let transport = try trial.transport(TransportConfiguration(proxy: .fixed(proxy)))
                let reason = NetworkError.ProxyFailure.refused(HTTPStatus(code))
                try await trial.expectFailure(.proxyFailed(code == 407 ? .notAuthenticated : reason)) {
                    _ = try await trial.exchange(.get, "https://service.example/", over: transport)
                }
            }
        }

    private static let tunnels = ([.httpProxy, .socksProxy] as [ConformanceEnvironment.Part]).flatMap { part in
        let name = part == .httpProxy ? "an HTTP proxy" : "a SOCKS proxy"
        return [
            ConformanceCase(
                "a tunnel through \(name) leads to the server", .addresses, needs: [part, .secure, .authority],
                rule: part == .httpProxy ? "RFC 9110 §9.3.6" : "RFC 1928, RFC 1929"
            ) { trial in
                let url = try trial.address(part).replacing("://", with: "://user:pass%20word@")
                guard let proxy = TransportConfiguration.Proxy.Server(url) else {
                    throw ConformanceFailure("\(url) is no proxy")
                }
                let transport = try trial.trusting { $0.proxy = .fixed(proxy) }
                for _ in 0..<2 { try await trial.expectEmpty(.secure, over: transport) }
            },
            ConformanceCase(
                "\(name) that requires other credentials is distinguished from one that refuses", .addresses,
                needs: [part],
                rule: part == .httpProxy ? "RFC 9110 §15.5.8" : "RFC 1929 §2"
            ) { trial in
                for credentials in ["", "user:sesame@"] {
                    let url = try trial.address(part).replacing("://", with: "://" + credentials)
                    guard let proxy = TransportConfiguration.Proxy.Server(url) else {
                        throw ConformanceFailure("\(url) is no proxy")
                    }
                    let transport = try trial.transport(TransportConfiguration(proxy: .fixed(proxy)))
                    let error = try await trial.expectFailure(.proxyFailed(.notAuthenticated)) {
                        _ = try await trial.exchange(.get, "https://service.example/", over: transport)
                    }
                    try trial.expect(!"\(error)".contains("sesame"), "the error shows the password")
                }
            },
        ]
    }
}
