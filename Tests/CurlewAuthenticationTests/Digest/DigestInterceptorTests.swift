// SPDX-License-Identifier: MIT

import CurlewHTTP
import CurlewJSON
import CurlewTesting
import Foundation
import Testing

@testable import CurlewAuthentication
@testable import CurlewCore

@Suite(.timeLimit(.minutes(1)))
struct DigestInterceptorTests {
    private func client(
        _ mock: MockTransport, password: String = "p", url: BaseURL = "https://api.test",
        minimum: BuiltInInterceptor.DigestMinimum = .sha256
    ) -> APIClient {
        APIClient(
            baseURL: url, pipeline: [.digest(user: "u", password: password, minimum: minimum)], transport: mock)
    }

    /// A server that takes one user, names a nonce a number of times, and calls the others stale.
    private func server(uses: Int) -> MockTransport {
        let state = Locked((nonce: 0, uses: [String: Int]()))
        return MockTransport.answering { call in
            let field = call.request.headers[.authorization].flatMap { HTTPChallenge.list([$0]).first }
            return state.withLock { state in
                func refuse(stale: Bool) -> HTTPResponse {
                    state.nonce += 1
                    state.uses["n\(state.nonce)"] = 0
                    let text = "Digest realm=\"r\", nonce=\"n\(state.nonce)\", qop=\"auth\", algorithm=SHA-256"
                    return HTTPResponse(
                        status: .unauthorized, headers: ["WWW-Authenticate": text + (stale ? ", stale=true" : "")])
                }
                guard let field, let nc = field["nc"], let cnonce = field["cnonce"], let nonce = field["nonce"] else {
                    return refuse(stale: false)
                }
                func hash(_ text: String) -> String { MessageDigest.sha256(Data(text.utf8)).hexText }
                let secret = hash("u:r:p")
                let method = call.request.method.rawValue
                let expected = hash(
                    "\(secret):\(nonce):\(nc):\(cnonce):auth:\(hash("\(method):\(call.request.target)"))")
                guard field["response"] == expected else { return refuse(stale: false) }
                guard let used = state.uses[nonce], used < uses else { return refuse(stale: true) }
                state.uses[nonce] = used + 1
                return HTTPResponse()
            }
        }
    }

    @Test("the first call is sent twice, those that follow once, and a stale nonce costs one more")
    func flow() async throws {
        let mock = server(uses: 3)
        let client = client(mock)
        for expected in [2, 3, 4, 6, 7] {
            try await client.send(Request<Void>.post("/x", body: .json(["a": 1])))
            #expect(mock.requestCount == expected)
        }
    }

    @Test("a wrong password is refused once and not tried again")
    func wrongPassword() async throws {
        let mock = server(uses: 3)
        let error = await client(mock, password: "wrong").failure(Request<Void>.get("/"))
        #expect(error?.isUnauthorized == true)
        #expect(mock.requestCount == 2)
    }

    @Test("a server that calls every nonce stale gets three requests")
    func stale() async throws {
        let mock = server(uses: 0)
        await #expect(throws: NetworkError.self) { try await client(mock).send(Request<Void>.get("/")) }
        #expect(mock.requestCount == 3)
    }

    @Test("another origin's challenge is not answered")
    func foreign() async throws {
        let mock = server(uses: 3)
        await #expect(throws: NetworkError.self) {
            try await client(mock).send(Request<Void>.get(url: "http://other.test/"))
        }
        #expect(mock.requests.allSatisfy { !$0.request.headers.contains(.authorization) })
        #expect(mock.requestCount == 1)
    }

    @Test("many calls at once all get through")
    func concurrent() async throws {
        let mock = server(uses: 1000)
        let client = client(mock)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 { group.addTask { try await client.send(Request<Void>.get("/")) } }
            try await group.waitForAll()
        }
    }

    @Test("nothing is answered over plain http, unless its origin is named or this machine")
    func plainText() async throws {
        let error = await client(server(uses: 3), url: "http://api.test").failure(Request<Void>.get("/"))
        #expect(error?.reason == .configuration && error?.detail.contains("unencrypted") == true)
        try await client(server(uses: 3), url: "http://127.0.0.1:7").send(Request<Void>.get("/"))
        let named = APIClient(
            baseURL: "http://api.test", pipeline: [.digest(user: "u", password: "p", for: "http://api.test")],
            transport: server(uses: 3))
        try await named.send(Request<Void>.get("/"))
    }

    @Test("a challenge that is too weak is not answered, and the error says what to do")
    func weak() async throws {
        let mock = MockTransport.answering { _ in
            HTTPResponse(status: .unauthorized, headers: ["WWW-Authenticate": "Digest realm=r, nonce=n, qop=auth"])
        }
        let error = await #expect(throws: NetworkError.self) { try await client(mock).send(Request<Void>.get("/")) }
        #expect(error?.reason == .notAuthenticated(.refused))
        #expect(error?.hint?.contains("minimum: .md5") == true)
        #expect(mock.requestCount == 1 && mock.requests.allSatisfy { !$0.request.headers.contains(.authorization) })
        await #expect(throws: NetworkError.self) { try await client(mock, minimum: .md5).send(Request<Void>.get("/")) }
        #expect(mock.requests.last?.request.headers.contains(.authorization) == true)
    }
}
