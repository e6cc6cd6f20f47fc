// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewCurl
import CurlewHTTP
import CurlewTesting
import Foundation
import TestServers
import Testing

/// Bad servers and bad responses: one error with the right reason, and a transport that goes on.
@Suite(.timeLimit(.minutes(1)))
struct FailureTests {
    let transport = CurlTransport()
    static let mayHaveArrived = NetworkError.Reason.connectionLost(.requestMayHaveArrived)

    /// The error that reading the whole response gives; afterwards the same engine gets a good one.
    private func error(
        from response: MockResponse, _ method: HTTPMethod = .get, body: RequestBody = .empty, streaming: Bool = false,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> NetworkError {
        let server = try MockServer()
        server.enqueue(response, .text("good"))
        let error = try await #require(throws: NetworkError.self, sourceLocation: sourceLocation) {
            let response = try await transport.exchange(method, server.url + "/", body: body) {
                $0.streaming = streaming
            }
            _ = try await response.data()
        }
        expectTexts(error, sourceLocation: sourceLocation)
        #expect(
            try await transport.exchange(.get, server.url + "/").text() == "good", sourceLocation: sourceLocation)
        return error
    }

    @Test("a port without a listener is unreachable")
    func refusedPort() async throws {
        let (socket, port) = try LoopbackPort.refusing()
        defer { close(socket) }
        let error = try await #require(throws: NetworkError.self) {
            try await transport.exchange(.get, "http://127.0.0.1:\(port)/")
        }
        #expect(error.reason == .unreachable)
        #expect((error.underlying as? NetworkError.TransportFailure)?.systemError == ECONNREFUSED)
        #expect(!error.isOffline)
        expectTexts(error)
        #expect(error.description.contains("127.0.0.1:\(port)"))
    }

    @Test("a host that does not exist is unreachable")
    func unknownHost() async throws {
        // RFC 6761: such a name has no address, and no resolver needs a server for it.
        let error = try await #require(throws: NetworkError.self) {
            try await transport.exchange(.get, "http://no-such-host.invalid/")
        }
        #expect(error.reason == .unreachable)
        #expect(error.description.contains("no-such-host.invalid"))
        expectTexts(error)
    }

    @Test(
        "a response that is not HTTP is a bad response",
        arguments: [
            "hello, this is HTTP/0.9\n", "SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1 abc OK\r\n\r\n",
            "HTTP/9.9 200 OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n12345",
            "HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\n12345",
            "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\n12345",
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n12345",
            "HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\n12345",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nabc\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nX-Nul: a\0b\r\nContent-Length: 0\r\n\r\n",
        ])
    func malformed(answer: String) async throws {
        for streaming in [false, true] {
            #expect(try await error(from: .raw(Data(answer.utf8)), streaming: streaming).reason == .badResponse)
        }
    }

    @Test(
        "a response that breaks off is a lost connection",
        arguments: [
            "", "HTTP/1.1", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 100 Continue\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n123456789",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n",
        ])
    func brokenOff(answer: String) async throws {
        for streaming in [false, true] {
            #expect(try await error(from: .raw(Data(answer.utf8)), streaming: streaming).reason == Self.mayHaveArrived)
        }
    }

    @Test(
        "a reset is a lost connection wherever it comes",
        arguments: [
            MockResponse.Stage.beforeHead, .afterHead, .afterBytes(0), .afterBytes(1), .afterBytes(70_000),
            .beforeRequestRead,
        ])
    func reset(stage: MockResponse.Stage) async throws {
        for streaming in [false, true] {
            let response = MockResponse.generated(bytes: 200_000).reset(at: stage)
            #expect(try await error(from: response, streaming: streaming).reason == Self.mayHaveArrived)
        }
        let body = RequestBody.bytes(Data(count: 3_000_000))
        let response = MockResponse.text("x").reset(at: .beforeRequestRead)
        #expect(try await error(from: response, .post, body: body).reason == Self.mayHaveArrived)
    }

    @Test("a body that breaks off after the response was delivered fails where it is read, with its beginning given")
    func brokenBody() async throws {
        let server = try MockServer()
        server.enqueue(.generated(bytes: 500_000).truncated(after: 300_000))
        let response = try await transport.exchange(.get, server.url + "/") { $0.streaming = true }
        #expect(response.status == .ok)
        var received = Data()
        let error = try await #require(throws: NetworkError.self) {
            for try await chunk in response.body { received += chunk }
        }
        #expect(error.reason == Self.mayHaveArrived)
        #expect(error.response?.status == .ok)
        #expect(received == pattern(300_000))
    }

    @Test("a small body that breaks off keeps what came for the developer")
    func excerpt() async throws {
        let error = try await error(from: MockResponse.text("the beginning").truncated(after: 9))
        #expect(error.response?.status == .ok)
        #expect(error.response?.body == Data("the begin".utf8))
        #expect(error.response?.isTruncated == true)
    }

    @Test("more body than declared is not read, and the connection is not used again")
    func surplus() async throws {
        let server = try RawServer { connection in
            while true {
                _ = try connection.readHead()
                try connection.write(
                    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nX-Evil: 1\r\n\r\n")
            }
        }
        for _ in 0..<3 {
            let response = try await transport.exchange(.get, server.url + "/")
            #expect(try await response.text() == "ok")
            #expect(!response.headers.contains("X-Evil"))
        }
        #expect(server.connectionCount == 3)
    }

    @Test("speaking TLS to a server that does not is a failed handshake")
    func noTLS() async throws {
        let server = try RawServer { connection in
            // All of it: what is not read makes a reset of the end, which may overtake the response.
            _ = try connection.read(upTo: 10_000)
            try connection.write("HTTP/1.1 400 Bad Request\r\n\r\n")
            connection.waitUntilClosed()
        }
        let error = try await #require(throws: NetworkError.self) {
            try await transport.exchange(.get, "https://127.0.0.1:\(server.port)/")
        }
        #expect(error.reason == .secureConnectionFailed(.handshake))
        #expect(!error.isRetryable)
        expectTexts(error)
    }

    @Test("a connection that ends in the handshake has lost a request that was not sent", arguments: [false, true])
    func handshakeBreaks(isReset: Bool) async throws {
        let server = try RawServer { connection in
            // What is not read yet makes a reset of the end.
            _ = try connection.read(upTo: isReset ? 1 : 10_000)
        }
        let error = try await #require(throws: NetworkError.self) {
            try await transport.exchange(.post, "https://127.0.0.1:\(server.port)/", body: .bytes(Data("once".utf8)))
        }
        #expect(error.reason == .connectionLost(.requestNotSent), "\(error)")
        #expect(error.isRetryable)
        expectTexts(error)
    }

    /// libcurl bounds all heads of a transfer together, whatever `limits.headerBytes` allows.
    @Test("a head that is too large for libcurl is over a limit, and the error names the limit")
    func hugeHead() async throws {
        let server = try MockServer()
        let lines = (0..<45).map { "X-Filler-\($0): " + String(repeating: "a", count: 10_000) + "\r\n" }
        server.enqueue(
            .raw(Data(("HTTP/1.1 200 OK\r\n" + lines.joined() + "Content-Length: 0\r\n\r\n").utf8)))
        try await LibraryDeviation.unboundedHeads.mayDiffer {
            let error = try await #require(throws: NetworkError.self) {
                try await transport.exchange(.get, server.url + "/", limits: Limits(headerBytes: 1 << 20))
            }
            #expect(error.reason == .limitExceeded(.responseHeaders), "\(error)")
            #expect(error.hint?.contains("300 KB") == true)
            expectTexts(error)
        }
    }

    @Test("speaking HTTP/2 to a server that does not is a bad response or a lost connection, not a hang")
    func noHTTP2() async throws {
        let transport = CurlTransport(configuration: TransportConfiguration(httpVersions: .http2PriorKnowledge))
        let server = try MockServer()
        server.on(.get, "/", respond: .text("x"))
        let error = try await #require(throws: NetworkError.self) {
            try await transport.exchange(.get, server.url + "/")
        }
        #expect([.badResponse, Self.mayHaveArrived, .connectionLost(.requestNotSent)].contains(error.reason))
        expectTexts(error)
    }
}
