// SPDX-License-Identifier: MIT

import Testing

/// Bad servers and bad responses: one error with the right reason, and a transport that goes on.
@Suite(.timeLimit(.minutes(1)))
struct FailureTests {
    let transport = CurlTransport()
    static let mayHaveArrived = NetworkError.Reason.connectionLost(.requestMayHaveArrived)

    @Test("A port without a listener is unreachable")
    func refusedPort() async throws {
        let (socket, port) = try LoopbackPort.refusing()
        defer { close(socket) }
        let error = try #require(await transport.failure(.get, "http://127.0.0.1:\(port)/"))
        #expect(error.reason == .unreachable)
        #expect((error.underlying as? NetworkError.TransportFailure)?.systemError == ECONNREFUSED)
        #expect(!error.isOffline)
        expectTexts(error)
        #expect(error.description.contains("127.0.0.1:\(port)"))
    }

    @Test("A small body that breaks off keeps its received bytes for the developer")
    func excerpt() async throws {
        let server = try MockServer.answering(.text("the beginning").truncated(after: 9))
        let error = try #require(await transport.failure(.get, server.url + "/"))
        #expect(error.reason == Self.mayHaveArrived)
        expectTexts(error)
        #expect(error.response?.status == .ok)
        #expect(error.response?.body == Data("the begin".utf8))
        #expect(error.response?.isTruncated == true)
    }

    @Test("A connection that ends in the handshake has lost a request that was not sent", arguments: [false, true])
    func handshakeBreaks(isReset: Bool) async throws {
        let server = try RawServer { connection in
            // What is not read yet makes a reset of the end.
            _ = try connection.read(upTo: isReset ? 1 : 10_000)
        }
        let error = try #require(
            await transport.failure(.post, "https://127.0.0.1:\(server.port)/", body: .bytes(Data("once".utf8))))
        #expect(error.reason == .connectionLost(.requestNotSent), "\(error)")
        #expect(error.isRetryable)
        expectTexts(error)
    }

    @Test("A head may be as large as the limits allow")
    func hugeHead() async throws {
        let server = try MockServer()
        let lines = (0..<45).map { "X-Filler-\($0): " + String(repeating: "a", count: 10_000) + "\r\n" }
        server.enqueue(
            .raw(Data(("HTTP/1.1 200 OK\r\n" + lines.joined() + "Content-Length: 0\r\n\r\n").utf8)))
        let limits = Limits(headerBytes: 1 << 20)
        #expect(try await transport.exchange(.get, server.url + "/", limits: limits).headers.count == 46)
    }

    @Test("HTTP/2 to a server without it is a bad response or a lost connection, not a hang")
    func noHTTP2() async throws {
        let transport = CurlTransport(configuration: TransportConfiguration(httpVersions: .http2PriorKnowledge))
        let server = try MockServer.always(.text("x"))
        let error = try #require(await transport.failure(.get, server.url + "/"))
        #expect([.badResponse, Self.mayHaveArrived, .connectionLost(.requestNotSent)].contains(error.reason))
        expectTexts(error)
    }
}
