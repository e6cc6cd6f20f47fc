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

    @Test("fields keep their order, their spelling and their repetitions")
    func order() async throws {
        var headers: HTTPHeaders = ["X-Second": "2", "x-first": "1", "X-SECOND": "two"]
        headers.append("X-Second", "2")
        let request = try await received(headers)
        let own = request.headers.filter { $0.name.text.lowercased().hasPrefix("x-") }
        #expect(own.map(\.name.text) == ["X-Second", "x-first", "X-SECOND", "X-Second"])
        #expect(own.map(\.value) == ["2", "1", "two", "2"])
    }

    @Test(
        "a value arrives as it was written",
        arguments: [
            "", "a", "a;", ";", ":", "a: b", "\"quoted, text\"", "tab\there", "ümläut", "日本語", "%0D%0A", "a,b , c",
            String(repeating: "long ", count: 2000) + "end",
        ])
    func values(value: String) async throws {
        let request = try await received(["X-Value": value, "X-After": "1"])
        #expect(request.headers[values: "X-Value"] == [value])
        #expect(request.headers["X-After"] == "1")
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

    @Test("a field that the transport would write itself is the caller's if the caller writes it")
    func replaced() async throws {
        let request = try await received([
            .userAgent: "tests/1", .acceptEncoding: "identity", .accept: "text/plain",
        ])
        #expect(request.headers[values: .userAgent] == ["tests/1"])
        #expect(request.headers[values: .acceptEncoding] == ["identity"])
        #expect(request.headers[values: .accept] == ["text/plain"])
    }

    @Test(
        "a target is sent as it is", arguments: ["/", "/a//b", "/a/%2E/b", "/a%20b?c=%26&d", "/?", "/a?b?c", "/a;b=c"])
    func targets(path: String) async throws {
        #expect(try await received([:], path: path).target == path)
    }

    @Test("header names are tokens and values hold no CR, LF or NUL: such a message never leaves")
    func injection() async throws {
        let server = try MockServer()
        for headers: HTTPHeaders in [["X": "a\r\nEvil: 1"], ["X": "a\n"], ["X": "a\0"], ["X Y": "a"], ["X:": "a"]] {
            let error = try await #require(throws: NetworkError.self) {
                try await transport.exchange(.get, server.url + "/", headers: headers)
            }
            #expect(error.reason == .invalidRequest)
            expectTexts(error)
        }
        for method: HTTPMethod in ["GET / HTTP/1.1\r\nX: y", "", "A B", "É"] {
            let error = try await #require(throws: NetworkError.self) {
                try await transport.exchange(method, server.url + "/")
            }
            #expect(error.reason == .invalidRequest)
            expectTexts(error)
        }
        #expect(server.connectionCount == 0)
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
