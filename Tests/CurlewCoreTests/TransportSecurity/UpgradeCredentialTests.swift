// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewAuthentication
@testable import CurlewCore

/// Credentials of `http://host`, where an interceptor sends its requests over https.
@Suite(.timeLimit(.minutes(1)))
struct UpgradeCredentialTests {
    private func client(_ interceptor: any Interceptor) -> APIClient {
        let upgrade = BuiltInInterceptor.onRequest(at: .cookies) { request, _ in
            try request.setURL("https://a.test" + request.target)
        }
        return .mock(baseURL: "http://a.test", pipeline: .standard.adding(upgrade).adding(interceptor)) {
            $0.onAny { _ in .status(204) }
        }
    }

    private func authorization(_ client: APIClient) -> [String?] {
        client.recordedCalls.map { $0.request.headers[.authorization] }
    }

    @Test("Credentials follow an upgrade to https on the same host with default ports")
    func upgrade() async throws {
        let basic = client(.basic(user: "ada", password: "x", for: "http://a.test"))
        try await basic.send(Request<HTTPResponse>(.get, "/"))
        #expect(basic.recordedCalls.map(\.request.urlString) == ["https://a.test/"])
        #expect(authorization(basic) == ["Basic YWRhOng="])
        let bearer = client(.bearer(for: "http://a.test") { "secret" })
        try await bearer.send(Request<HTTPResponse>(.get, "/"))
        #expect(authorization(bearer) == ["Bearer secret"])
        let hook = client(.onRequest { request, _ in request.headers["X-Api-Key"] = "secret" })
        try await hook.send(Request<HTTPResponse>(.get, "/"))
        #expect(hook.recordedCalls.map { $0.request.headers["X-Api-Key"] } == ["secret"])
    }

    @Test(
        "Credentials follow no other change of the origin",
        arguments: [
            ("https://a.test", "http://a.test"), ("http://a.test", "https://a.test:8443"),
            ("http://a.test:8080", "https://a.test"), ("http://a.test:8080", "https://a.test:8080"),
            ("http://a.test", "https://b.test"), ("http://a.test", "https://x.a.test"),
            ("http://a.test", "http://a.test:443"), ("http://a.test:443", "https://a.test"),
            ("https://a.test", "https://a.test:80"),
        ])
    func nowhereElse(home: String, other: String) async throws {
        let (mine, theirs) = (try HTTPRequest(url: home).origin, try HTTPRequest(url: other).origin)
        #expect(mine.shares(with: mine) && !mine.shares(with: theirs))
        let client = APIClient.mock(pipeline: .standard.adding(.bearer(for: home) { "secret" })) {
            $0.onAny { _ in .status(204) }
        }
        try await client.send(Request<HTTPResponse>(.get, url: other + "/x"))
        #expect(authorization(client) == [nil])
    }

    @Test("A server's redirect leaves credentials behind, like any redirect that leaves the origin")
    func redirect() async throws {
        let pipeline = Pipeline.standard.adding(.bearer(for: "http://a.test") { "secret" })
        let client = APIClient.mock(baseURL: "http://a.test", pipeline: pipeline) {
            $0.onAny { call in
                guard call.request.origin.isSecure else {
                    return .status(301, headers: [.location: "https://a.test/"])
                }
                return .status(204)
            }
        }
        try await client.send(Request<HTTPResponse>(.get, "/"))
        #expect(authorization(client) == ["Bearer secret", nil])
    }
}
