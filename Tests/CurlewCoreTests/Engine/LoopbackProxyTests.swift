// SPDX-License-Identifier: MIT

import CurlewHTTP
import Testing

@testable import CurlewCore

/// What is meant for this machine does not leave it through a proxy.
@Suite(.timeLimit(.minutes(1)))
struct LoopbackProxyTests {
    @Test("a fixed proxy elsewhere is not used for this machine; one on this machine is")
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
