// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewAuthentication
@testable import CurlewCore

/// The request of a call that something else than the pipeline sends, such as a background session.
@Suite(.timeLimit(.minutes(1)))
struct RequestToSendTests {
    private struct GetFilm: Endpoint {
        typealias Response = Data
        var path: RequestPath { "/films/7" }
    }

    private let server = AccountServer()
    private let store = TokenStore()

    private func client(_ interceptors: [any Interceptor]) -> APIClient {
        APIClient.testing(
            server, baseURL: "https://api.test/v1", pipeline: Pipeline(interceptors),
            configuration: APIClient.Configuration(userAgent: "films/1"))
    }

    private var calls: Int { server.state.withLock { $0.calls } }

    @Test("The request to send has the client's and interceptors' fields, with refreshed tokens")
    func refreshed() async throws {
        try await store.signIn(Tokens(accessToken: "a0", refreshToken: "r0", lifetime: .seconds(-10)))
        let tenant = BuiltInInterceptor.onRequest { request, _ in request.headers["X-Tenant"] = "acme" }
        let client = client([tenant, .bearer(store, refresh: renew)])
        for request in [
            try await client.requestToSend(for: .get("/films/7") as Request<Data>),
            try await client.requestToSend(for: GetFilm()),
        ] {
            #expect(request.urlString == "https://api.test/v1/films/7")
            #expect(request.headers["X-Tenant"] == "acme" && request.headers["User-Agent"] == "films/1")
            #expect(request.headers[.authorization] == "Bearer a1")
        }
        #expect(server.refreshes == 1 && calls == 0)
        // A preview still does neither.
        #expect(try await client.preview(GetFilm()).headers[.authorization] == nil)
    }

    @Test("A refresh that fails, and a missing credential, are errors", arguments: [false, true])
    func failures(isSignedIn: Bool) async throws {
        if isSignedIn {
            try await store.signIn(Tokens(accessToken: "a0", refreshToken: "r0", lifetime: .seconds(-10)))
            server.state.withLock { $0.mode = .refusing }
        }
        let client = client([.bearer(store, refresh: renew)])
        let film = Request<Data>.get("/films/7").options { $0.authentication = .required }
        let error = await #expect(throws: NetworkError.self) { try await client.requestToSend(for: film) }
        guard case .notAuthenticated = error?.reason else {
            Issue.record("not an error about the credential: \(String(describing: error))")
            return
        }
        #expect(calls == 0)
    }

    @Test("An interceptor with tokens runs wherever it was placed")
    func placed() async throws {
        try await store.signIn(server.tokens)
        let client = client([]).adding(.bearer(store, refresh: renew), at: .signing)
        #expect(try await client.requestToSend(for: GetFilm()).headers[.authorization] == "Bearer a0")
    }
}
