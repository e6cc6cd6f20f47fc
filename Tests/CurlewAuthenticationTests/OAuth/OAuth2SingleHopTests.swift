// SPDX-License-Identifier: MIT

import CurlewAuthentication
import Testing

/// Requests with refresh tokens and client secrets go to their endpoint only, even if an interceptor of the app follows
/// redirects.
@Suite(.timeLimit(.minutes(1)))
struct OAuth2SingleHopTests {
    /// An app's interceptor that follows every redirect, as the documentation of `isSingleHop` requires.
    private struct Follower: Interceptor {
        func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
            let response = try await next(request)
            guard !next.context.options.isSingleHop, let location = response.headers[.location] else { return response }
            var moved = try HTTPRequest(request.method, url: location, headers: request.headers)
            moved.body = request.body
            return try await next(moved)
        }
    }

    private func hosts(_ interceptor: any Interceptor, of request: Request<some Sendable>) async throws -> [String] {
        let mock = MockTransport.answering { call in
            guard call.request.origin.host != "elsewhere.test" else { return HTTPResponse(status: .noContent) }
            return HTTPResponse(
                status: .temporaryRedirect, headers: [.location: "https://elsewhere.test/token"])
        }
        let client = APIClient.testing(mock, baseURL: "https://id.test", pipeline: Pipeline.empty.adding(interceptor))
        _ = try? await client.send(request)
        return mock.requests.map(\.request.origin.host)
    }

    @Test("A token request is not redirected by an app's interceptor, nor by ours", arguments: [false, true])
    func tokenRequest(isOurs: Bool) async throws {
        let oauth = OAuth2(clientID: "app", tokenEndpoint: "https://id.test/token")
        let interceptor: any Interceptor = isOurs ? .redirects() : Follower()
        #expect(try await hosts(interceptor, of: oauth.renewal(of: "s3cret")) == ["id.test"])
        // Other requests are redirected, so the test can fail.
        #expect(try await hosts(interceptor, of: Request<Void>.get("/")) == ["id.test", "elsewhere.test"])
    }
}
