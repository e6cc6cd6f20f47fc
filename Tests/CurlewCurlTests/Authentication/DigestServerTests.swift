// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewCurl
import CurlewTesting
import Foundation
import TestServers
import Testing

/// Digest authentication with servers that others wrote.
@Suite(.timeLimit(.minutes(1)))
struct DigestServerTests {
    private func client(_ server: DigestServer, password: String = "p:w") throws -> APIClient {
        APIClient(
            baseURL: try BaseURL(server.url), pipeline: [.digest(user: "ada", password: password)],
            transport: CurlTransport())
    }

    @Test("Apache's mod_auth_digest lets us in (MD5), and not with a wrong password")
    func apache() async throws {
        let server = try await DigestServer.apache()
        let client = try client(server)
        for _ in 0..<5 { #expect(try await client.send(Request<String>.get("/index.html")) == "hello") }
        let error = await #expect(throws: NetworkError.self) {
            try await self.client(server, password: "wrong").send(Request<String>.get("/index.html"))
        }
        #expect(error?.isUnauthorized == true)
    }

    @Test("a server of Python's lets us in (SHA-256), with counts that rise and nonces that grow stale")
    func python() async throws {
        let server = try await DigestServer.python()
        let client = try client(server)
        for index in 0..<10 {
            #expect(try await client.send(Request<String>.get("/path/\(index)", query: ["q": "a b"])) == "hello")
            try await client.send(Request<Void>.post("/x", json: ["index": index]))
        }
        let error = await #expect(throws: NetworkError.self) {
            try await self.client(server, password: "wrong").send(Request<String>.get("/"))
        }
        #expect(error?.isUnauthorized == true)
    }
}
