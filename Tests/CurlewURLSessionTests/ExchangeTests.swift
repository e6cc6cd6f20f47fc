// SPDX-License-Identifier: MIT

import CurlewURLSession
import TestServers
import Testing

/// Whole exchanges over a real socket.
@Suite(.timeLimit(.minutes(1)))
struct ExchangeTests {
    private let transport = URLSessionTransport()

    @Test("Redirects without a target are responses", arguments: [301, 302, 303, 305, 306, 307, 308])
    func redirectsWithoutTarget(code: Int) async throws {
        let server = try MockServer.answering(.status(HTTPStatus(code)), .text("moved", status: HTTPStatus(code)))
        let response = try await transport.exchange(.get, server.url + "/")
        #expect(response.status.code == code)
        #expect(try await response.data().isEmpty)
        #if canImport(Darwin)
        #expect(try await transport.exchange(.get, server.url + "/").text() == "moved")
        #else
        // Linux drops the body: better no response than half of one.
        #expect(await transport.failure(.get, server.url + "/")?.reason == .badResponse)
        #endif
    }

    @Test(
        "A demand for credentials is a response, with its body",
        arguments: ["Basic realm=\"a\"", "Bearer", "Digest realm=\"x\", nonce=\"1\"", "Basic", "", "Negotiate"])
    func unauthorized(challenge: String) async throws {
        let server = try MockServer()
        var refusal = MockResponse.text("who are you", status: .unauthorized)
        refusal.headers[.wwwAuthenticate] = challenge
        server.enqueue(refusal)
        let response = try await transport.exchange(.get, server.url + "/")
        #expect(response.status == .unauthorized)
        #expect(try await response.text() == "who are you")
        #expect(server.requestCount == 1)
    }
}
