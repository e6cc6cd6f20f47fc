// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewAuthentication
@testable import CurlewCore

/// Which errors of a refresh end the tokens.
@Suite(.timeLimit(.minutes(1)))
struct RefreshFailureTests {
    private static let json = "application/json"
    private static let grant = #"{"error":"invalid_grant"}"#

    /// Status, media type and body of the token endpoint, and whether that signs out.
    static let responses: [(Int, String?, String, Bool)] = [
        (400, json, grant, true), (401, json, grant, true), (403, json, grant, true),
        (400, "application/json; charset=utf-8", #"{"error":"invalid_grant","error_description":"no"}"#, true),
        (200, json, #"{"error":"bad_refresh_token","error_description":"incorrect or expired"}"#, true),
        (400, json, #"{"error":"bad_refresh_token"}"#, true),
        (400, nil, "", false), (401, nil, "", false), (403, nil, "", false), (404, nil, "", false),
        (400, "text/html", grant, false), (400, nil, grant, false), (400, "text/plain", grant, false),
        (400, "text/html", "<html>Bad Request</html>", false), (407, "text/html", "<html>proxy</html>", false),
        (400, json, "{}", false), (400, json, #"{"error":"invalid_grant"#, false),
        (400, json, #"{"error":{"code":"invalid_grant"}}"#, false), (400, json, #"["invalid_grant"]"#, false),
        (400, json, #"{"error":"Invalid_Grant"}"#, false), (400, json, #"{"message":"invalid_grant"}"#, false),
        (400, json, #"{"error":"invalid_request"}"#, false), (401, json, #"{"error":"invalid_client"}"#, false),
        (400, json, #"{"error":"unauthorized_client"}"#, false), (400, json, #"{"error":"invalid_scope"}"#, false),
        (429, json, grant, false), (500, json, grant, false), (503, json, grant, false),
        (200, json, #"{"error":"incorrect_client_credentials"}"#, false), (200, "text/html", "<html>", false),
        (200, json, #"{"token_type":"bearer"}"#, false), (200, nil, "", false), (302, nil, "", false),
    ]

    @Test(
        "invalid_grant signs out; other responses keep the tokens, and the error says why", arguments: responses)
    func outcome(status: Int, type: String?, body: String, signsOut: Bool) async throws {
        let mock = MockTransport.answering { call in
            guard call.request.origin.host == "id.test" else { return HTTPResponse(status: .unauthorized) }
            return HTTPResponse(
                status: HTTPStatus(status), headers: type.map { [.contentType: $0] } ?? [:],
                body: ResponseBody(Data(body.utf8)))
        }
        let clock = ManualClock()
        let store = TokenStore(time: clock)
        try await store.signIn(Tokens(accessToken: "a", refreshToken: "s3cret"))
        let oauth = OAuth2(clientID: "app", tokenEndpoint: "https://id.test/token")
        let client = APIClient.testing(
            mock, baseURL: "https://api.test", pipeline: [.bearer(store, refresh: oauth.refresh)], time: clock)
        let error = await #expect(throws: NetworkError.self) { try await client.send(Request<Void>.get("/")) }
        #expect(try await (store.tokens == nil) == signsOut)
        #expect((error?.reason == .notAuthenticated(.refreshRefused)) == signsOut)
        guard !signsOut else { return }
        #expect(error?.reason == .notAuthenticated(.refreshFailed) && error?.response == nil)
        #expect((error?.underlying as? NetworkError)?.response?.status.code == status)
        // It is not the call that found nothing, was not allowed, or has to sign in.
        #expect(error?.isNotFound == false && error?.isForbidden == false && error?.isUnauthorized == false)
        #expect(error?.isRetryable == [429, 500, 503].contains(status))
        #expect(error?.detail.hasPrefix("The tokens could not be refreshed.") == true)
        #expect(error.map { !"\($0)".contains("s3cret") } == true)
        if body.contains("invalid_client") { #expect(error?.detail.contains("\"invalid_client\"") == true) }
    }

    @Test(
        "A custom refresher reports by one error only that the tokens cannot be refreshed",
        arguments: [
            (.notAuthenticated(.refreshRefused), true), (.notAuthenticated(.refused), true),
            (.notAuthenticated(.missingCredential), true), (.notAuthenticated(.sourceFailed), false),
            (.notAuthenticated(.tooManyRefreshes), false), (.notAuthenticated(.signedOut), false),
            (.status(401), false), (.unreachable, false), (.storage, false), (.cancelled, false),
        ] as [(NetworkError.Reason, Bool)])
    func refreshers(reason: NetworkError.Reason, signsOut: Bool) async throws {
        let clock = ManualClock()
        let store = TokenStore(time: clock)
        try await store.signIn(Tokens(accessToken: "a", refreshToken: "r"))
        let mock = MockTransport.answering { _ in HTTPResponse(status: .unauthorized) }
        let client = APIClient.testing(
            mock, baseURL: "https://api.test", pipeline: [.bearer(store) { _ in throw NetworkError(reason) }],
            time: clock)
        let error = await #expect(throws: NetworkError.self) { try await client.send(Request<Void>.get("/")) }
        #expect((error?.reason == .notAuthenticated(.refreshRefused)) == signsOut)
        #expect(try await (store.tokens == nil) == signsOut)
    }
}
