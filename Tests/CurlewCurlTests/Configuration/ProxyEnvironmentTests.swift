// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewCurl
import CurlewHTTP
import Foundation
import TestServers
import Testing

/// The environment of a process decides only if it is asked, and once. Each test has a process of its own.
@Suite(.timeLimit(.minutes(1)))
struct ProxyEnvironmentTests {
    @Test("the environment counts when asked for, as it was when the transport was made")
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

    @Test("the environment does not count when not asked for, and does not exempt hosts from a fixed proxy")
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
