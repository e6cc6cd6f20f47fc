// SPDX-License-Identifier: MIT

#if os(Linux)
import Testing

@testable import CurlewCurl

/// Names of this machine are not looked up.
@Suite(.timeLimit(.minutes(1)))
struct LoopbackNameTests {
    @Test(
        "Names of this machine are reached without the DNS, in turn over one transport",
        arguments: [
            ["app.localhost", "localhost.", "127.0.0.1.", "localhost", "b.app.localhost", "app.localhost."],
            ["127.0.0.1.", "127.0.0.1", "x.localhost", "x.localhost"],
        ])
    func reached(names: [String]) async throws {
        let server = try MockServer.always(.text("hello"))
        let transport = CurlTransport(options: CurlTransport.Options(eventLoops: 1))
        for name in names {
            let response = try await transport.exchange(.get, "http://\(name):\(server.port)/")
            #expect(try await response.text() == "hello", "\(name)")
        }
    }

    @Test("An override for a loopback name wins")
    func override() async throws {
        let server = try MockServer.always(.text("hello"))
        var configuration = TransportConfiguration()
        configuration.dns.overrides = [.init(host: "app.localhost", target: "127.0.0.1", targetPort: server.port)]
        let response = try await CurlTransport(configuration: configuration).exchange(.get, "http://app.localhost:1/")
        #expect(try await response.text() == "hello")
    }
}

/// Interim responses are bounded together.
@Suite(.timeLimit(.minutes(1)))
struct InterimLimitTests {
    private func accepted(_ lines: [String], times: Int, _ limits: Limits) -> Int {
        var head = ResponseHead(limits: limits, keepsInterim: true)
        for round in 0..<times {
            for line in lines {
                let bytes = Array((line + "\r\n").utf8)
                guard bytes.withUnsafeBytes({ head.receive($0) }) else { return round }
            }
        }
        return times
    }

    @Test("Any number of interim responses ends at the limits of one head")
    func bounded() {
        let empty = accepted(["HTTP/1.1 102 Processing", ""], times: 100_000, .standard)
        #expect((1000..<20_000).contains(empty))
        let hints = accepted(["HTTP/1.1 103 Early Hints", "Link: </a>", ""], times: 2000, .standard)
        #expect(hints == 1000)
        #expect(accepted(["HTTP/1.1 103 Early Hints", "Link: </a>", ""], times: 5, Limits(headerCount: 5)) == 5)
    }
}
#endif
