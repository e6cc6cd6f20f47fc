// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewCurl
import CurlewHTTP
import CurlewTesting
import Foundation
import TestServers
import Testing

/// Request fields on the wire.
@Suite(.timeLimit(.minutes(1)))
struct RequestHeaderTests {
    let transport = CurlTransport()

    private func received(_ headers: HTTPHeaders, path: String = "/") async throws -> RecordedRequest {
        let server = try MockServer()
        server.enqueue(.status(.noContent))
        _ = try await transport.exchange(.get, server.url + path, headers: headers)
        return try #require(server.requests.first)
    }

    @Test("nothing is added but the host and the codings that the transport decodes")
    func additions() async throws {
        let request = try await received([:])
        #expect(Set(request.headers.map(\.name)) == [.host, .acceptEncoding])
        #expect(request.headers[.acceptEncoding]?.contains("gzip") == true)
    }

    @Test("with raw bodies asked for, no coding is offered")
    func skipsContentDecoding() async throws {
        let server = try MockServer()
        server.on(.get, "/", respond: .status(.noContent))
        _ = try await transport.exchange(.get, server.url + "/") { $0.skipsContentDecoding = true }
        _ = try await transport.exchange(.get, server.url + "/")
        #expect(server.requests.map { $0.headers.contains(.acceptEncoding) } == [false, true])
    }

    @Test("a request over an IPv6 address arrives")
    func ipv6() async throws {
        var configuration = MockServer.Configuration()
        configuration.address = .ipv6
        let server = try MockServer(configuration)
        server.enqueue(.text("six"))
        let response = try await transport.exchange(.get, server.url + "/")
        #expect(try await response.text() == "six")
        #expect(server.requests.first?.headers[.host] == "[::1]:\(server.port)")
        #expect(response.metrics.remoteAddress == "[::1]:\(server.port)")
    }
}
