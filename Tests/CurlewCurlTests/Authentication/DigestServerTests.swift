// SPDX-License-Identifier: MIT

import CurlewAuthentication
import CurlewCore
import CurlewCurl
import CurlewHTTP
import CurlewJSON
import CurlewTesting
import Foundation
import TestServers
import Testing

/// Digest authentication with servers that others wrote.
@Suite(.timeLimit(.minutes(1)))
struct DigestServerTests {
    /// What the servers answered, and what they were sent.
    private final class Watch: RequestObserver {
        private let seen = Locked((refused: 0, fields: [String](), stale: 0))

        var refused: Int { seen.withLock { $0.refused } }
        var stale: Int { seen.withLock { $0.stale } }
        var fields: [String] { seen.withLock { $0.fields } }

        func record(_ event: ExchangeEvent, in context: ExchangeContext) {
            switch event {
            case .sent(let request):
                guard let field = request.headers[.authorization] else { return }
                seen.withLock { $0.fields.append(field) }
            case .answered(let response) where response.status == .unauthorized:
                let isStale = response.headers[.wwwAuthenticate]?.contains("stale=true") ?? false
                seen.withLock { seen in
                    seen.refused += 1
                    seen.stale += isStale ? 1 : 0
                }
            default: break
            }
        }
    }

    private func client(_ server: DigestServer, _ watch: Watch, password: String = "p:w") -> APIClient {
        var configuration = APIClient.Configuration()
        configuration.observers = [watch]
        return .curl(
            server.url, [.digest(user: "ada", password: password, minimum: .md5)], configuration: configuration)
    }

    @Test("Apache's mod_auth_digest lets us in (MD5) and takes its nonce again, and not with a wrong password")
    func apache() async throws {
        let server = try await DigestServer.apache()
        let watch = Watch()
        let client = client(server, watch)
        for _ in 0..<5 { #expect(try await client.send(Request<String>.get("/index.html")) == "hello") }
        // One challenge for all of them: the nonce of the first is used again, with counts that rise.
        #expect(watch.refused == 1)
        #expect(watch.fields.count == 5 && watch.fields.allSatisfy { $0.contains("algorithm=MD5") })
        for (index, field) in watch.fields.enumerated() { #expect(field.contains("nc=0000000\(index + 1)")) }

        let wrong = Watch()
        let error = await #expect(throws: NetworkError.self) {
            try await self.client(server, wrong, password: "wrong").send(Request<String>.get("/index.html"))
        }
        #expect(error?.isUnauthorized == true)
        #expect(wrong.refused == 2)
    }

    @Test("a server of Python's lets us in (SHA-256): counts rise, nonces grow stale, the user is a hash")
    func python() async throws {
        let server = try await DigestServer.python()
        let watch = Watch()
        let client = client(server, watch)
        for index in 0..<10 {
            #expect(try await client.send(Request<String>.get("/path/\(index)", query: ["q": "a b"])) == "hello")
            try await client.send(Request<Void>.post("/x", body: .json(["index": index])))
        }
        // Twenty calls, three for each nonce: the first was refused for want of one, six for its age.
        #expect(watch.refused == 7 && watch.stale == 6)
        #expect(watch.fields.allSatisfy { $0.contains("userhash=true") && !$0.contains("\"ada\"") })
        let error = await #expect(throws: NetworkError.self) {
            try await self.client(server, Watch(), password: "wrong").send(Request<String>.get("/"))
        }
        #expect(error?.isUnauthorized == true)
    }

    @Test("many calls at once get through, however their counts arrive")
    func concurrent() async throws {
        let server = try await DigestServer.apache()
        let watch = Watch()
        let client = client(server, watch)
        let failures = await withTaskGroup(of: NetworkError.Reason?.self) { group in
            for _ in 0..<40 { group.addTask { await client.reason(of: .get("/index.html")) } }
            return await group.reduce(into: 0) { $0 += $1 == nil ? 0 : 1 }
        }
        #expect(failures == 0)
    }
}
