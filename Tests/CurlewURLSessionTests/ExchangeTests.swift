// SPDX-License-Identifier: MIT

import CurlewURLSession
import TestServers
import Testing

/// Whole exchanges over a real socket.
@Suite(.timeLimit(.minutes(1)))
struct ExchangeTests {
    private let transport = URLSessionTransport()

    @Test("Every method arrives as written", arguments: ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE"])
    func methods(name: String) async throws {
        let server = try MockServer()
        server.on(nil, "/any", respond: .text("done"))
        let response = try await transport.exchange(HTTPMethod(rawValue: name), server.url + "/any?a=1&b=%20")
        #expect(response.status == .ok)
        #expect(try await response.text() == "done")
        let request = try #require(server.requests.first)
        #expect(request.method.rawValue == name)
        #expect(request.target == "/any?a=1&b=%20")
    }

    @Test(
        "Every status is a response",
        arguments: [200, 201, 204, 206, 300, 304, 400, 403, 404, 418, 429, 500, 503, 599])
    func statuses(code: Int) async throws {
        let server = try MockServer.answering(.status(HTTPStatus(code), headers: ["X-Mark": "here"]))
        let response = try await transport.exchange(.get, server.url + "/")
        #expect(response.status.code == code)
        #expect(response.headers["X-Mark"] == "here")
    }

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
