// SPDX-License-Identifier: MIT

import CurlewHTTP
import CurlewJSON
import CurlewTesting
import Foundation
import Testing

@testable import CurlewAuthentication
@testable import CurlewCore

/// Signing in as the documentation shows it, whatever user was signed in before.
@Suite(.timeLimit(.minutes(1)))
struct SignInTests {
    private static let login = Request<Tokens>.post("/login", body: .json(["password": "secret"]))

    /// A service that knows one password and refreshes nothing.
    private struct Service: Transport {
        let seen = Locked<[String]>([])
        let isRight: Bool

        func send(_ request: HTTPRequest, in context: ExchangeContext) async throws -> HTTPResponse {
            let token = request.headers[.authorization] ?? "-"
            seen.withLock { $0.append("\(request.method) \(request.target) \(token)") }
            guard request.target == "/login", isRight else {
                let body = ResponseBody(Data(#"{"error": "invalid_grant"}"#.utf8))
                return HTTPResponse(status: .unauthorized, headers: [.contentType: "application/json"], body: body)
            }
            let body = ResponseBody(Data(#"{"accessToken": "new", "refreshToken": "r"}"#.utf8))
            return HTTPResponse(headers: [.contentType: "application/json"], body: body)
        }
    }

    private func client(_ service: Service, _ tokens: TokenStore) -> APIClient {
        APIClient(
            baseURL: "https://api.test",
            pipeline: .standard.adding(
                .bearer(tokens) { refresh in
                    try await refresh.client.send(.post("/renew", body: .json(["token": refresh.tokens.refreshToken])))
                }), transport: service)
    }

    @Test("no token of another user is sent, by each form of `withoutCredentials()`")
    func noToken() async throws {
        struct LogIn: Endpoint {
            typealias Response = Tokens
            var method: HTTPMethod { .post }
            var path: RequestPath { "/login" }
            var options: RequestOptions { .withoutCredentials }
        }
        let service = Service(isRight: true)
        let tokens = TokenStore()
        try await tokens.signIn(Tokens(accessToken: "old", refreshToken: "r"))
        let client = client(service, tokens)
        try await tokens.signIn(try await client.withoutCredentials().send(Self.login))
        _ = try await client.send(Self.login.withoutCredentials())
        _ = try await client.send(LogIn())
        #expect(service.seen.withLock { $0 } == Array(repeating: "POST /login -", count: 3))
        #expect(try await tokens.tokens?.accessToken == "new")
    }

    @Test("a wrong password is sent once, refreshes nothing and signs out no user")
    func wrongPassword() async throws {
        let service = Service(isRight: false)
        let tokens = TokenStore()
        try await tokens.signIn(Tokens(accessToken: "old", refreshToken: "r"))
        let error = await client(service, tokens).withoutCredentials().failure(Self.login)
        #expect(error?.statusCode == 401)
        #expect(service.seen.withLock { $0 } == ["POST /login -"])
        #expect(try await tokens.tokens?.accessToken == "old")
    }

    @Test("expired tokens that cannot be refreshed do not prevent a sign-in")
    func deadTokens() async throws {
        let service = Service(isRight: true)
        let tokens = TokenStore()
        try await tokens.signIn(
            Tokens(accessToken: "old", refreshToken: "dead", expiresAt: Date(timeIntervalSince1970: 0)))
        let client = client(service, tokens)
        try await tokens.signIn(try await client.withoutCredentials().send(Self.login))
        #expect(service.seen.withLock { $0 } == ["POST /login -"])
        #expect(try await tokens.tokens?.accessToken == "new")
    }
}
