// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewAuthentication
@testable import CurlewCore

@Suite(.timeLimit(.minutes(1)))
struct OAuth2Tests {
    private let app = OAuth2(clientID: "app one", tokenEndpoint: "https://id.test/token", scopes: ["read", "write"])
    private let tokens = #"{"access_token": "a1", "refresh_token": "r1", "token_type": "Bearer"}"#

    private func sent(_ request: Request<Tokens>) async throws -> RecordedRequest {
        let mock = MockTransport.answering { [tokens] _ in .json(text: tokens) }
        let client = APIClient.testing(mock, baseURL: "https://api.test", pipeline: [.bearer { "other" }])
        #expect(try await client.send(request) == Tokens(accessToken: "a1", refreshToken: "r1"))
        return try #require(mock.requests.first)
    }

    @Test("The example of RFC 7636 appendix B is computed")
    func pkce() throws {
        let pkce = try #require(OAuth2.PKCE(verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"))
        #expect(pkce.challenge == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
        #expect(!"\(pkce)".contains(pkce.verifier))
        #expect(OAuth2.PKCE().verifier.count == 43 && OAuth2.PKCE() != OAuth2.PKCE())
        for bad in ["", "short", String(repeating: "a", count: 129), String(repeating: "ä", count: 43)] {
            #expect(OAuth2.PKCE(verifier: bad) == nil)
        }
    }

    @Test("The URL of the sign-in page has the items of the request")
    func authorization() throws {
        let pkce = try #require(OAuth2.PKCE(verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"))
        let url = try app.authorizationURL(
            at: "https://id.test/authorize?tenant=1", redirect: "app://back", pkce, state: "s&t",
            extra: ["prompt": "login"])
        #expect(
            url
                == "https://id.test/authorize?tenant=1&response_type=code&client_id=app%20one&redirect_uri=app://back"
                + "&scope=read%20write&state=s%26t&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
                + "&code_challenge_method=S256&prompt=login")
        #expect(throws: NetworkError.self) {
            try app.authorizationURL(at: "http://id.test/", redirect: "x", pkce, state: "s")
        }
    }

    @Test("A code is exchanged with its proof, and no other credential is sent")
    func exchange() async throws {
        let pkce = OAuth2.PKCE()
        let call = try await sent(app.exchange("c/1", redirect: "app://back", pkce))
        #expect(call.request.urlString == "https://id.test/token")
        #expect(call.request.headers[.authorization] == nil)
        #expect(
            call.text
                == "grant_type=authorization_code&code=c%2F1&redirect_uri=app%3A%2F%2Fback"
                + "&code_verifier=\(pkce.verifier)&client_id=app+one")
    }

    @Test("A client authenticates by the configured method")
    func client() async throws {
        let basic = OAuth2(
            clientID: "a:b", tokenEndpoint: "https://id.test/token", authentication: .basic(secret: "p w"))
        let call = try await sent(basic.clientCredentials)
        #expect(call.request.headers[.authorization] == "Basic " + Data("a%3Ab:p+w".utf8).base64EncodedString())
        #expect(call.text == "grant_type=client_credentials")
        let form = OAuth2(clientID: "a", tokenEndpoint: "https://id.test/token", authentication: .form(secret: "s"))
        let other = try await sent(form.renewal(of: "r0"))
        #expect(other.text == "grant_type=refresh_token&refresh_token=r0&client_id=a&client_secret=s")
        for text in ["\(basic)", String(reflecting: form)] {
            #expect(!text.contains("p w") && !text.contains("secret"))
        }
    }

    @Test(
        "No secret is sent over plain http, or to no server", arguments: ["http://id.test/token", "nowhere"])
    func insecure(endpoint: String) async throws {
        let oauth = OAuth2(clientID: "a", tokenEndpoint: endpoint, authentication: .basic(secret: "s"))
        let mock = MockTransport.answering { _ in HTTPResponse() }
        let client = APIClient.testing(mock, baseURL: "https://api.test")
        #expect(await failureReason { try await client.send(oauth.clientCredentials) } == .invalidRequest)
        #expect(mock.requestCount == 0)
    }

    @Test("A service obtains tokens once for all calls, and again when they are refused")
    func obtaining() async throws {
        let issued = Locked(0)
        let mock = MockTransport.answering { call in
            if call.request.origin.host == "id.test" {
                let number = issued.next()
                return .json(text: #"{"access_token": "a\#(number)"}"#)
            }
            let current = "Bearer a\(issued.withLock { $0 })"
            return HTTPResponse(status: call.request.headers[.authorization] == current ? .ok : .unauthorized)
        }
        let service = OAuth2(clientID: "s", tokenEndpoint: "https://id.test/token", authentication: .form(secret: "x"))
        let client = APIClient.testing(
            mock, baseURL: "https://api.test", pipeline: [.bearer(TokenStore(), obtain: service.obtain)])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 { group.addTask { try await client.send(Request<Void>.get("/")) } }
            try await group.waitForAll()
        }
        #expect(issued.withLock { $0 } == 1)
        issued.withLock { $0 = 5 }
        try await client.send(Request<Void>.get("/"))
        #expect(issued.withLock { $0 } == 6)
    }

    @Test("A service whose credentials are refused gets a clear error after a bounded number of tries")
    func refused() async throws {
        let mock = MockTransport.answering { _ in .json(text: #"{"error":"invalid_client"}"#, status: .unauthorized) }
        let service = OAuth2(clientID: "s", tokenEndpoint: "https://id.test/token")
        let store = TokenStore(policy: TokenStore.RefreshPolicy(limit: 3), time: ManualClock())
        let client = APIClient.testing(
            mock, baseURL: "https://api.test", pipeline: [.bearer(store, obtain: service.obtain)])
        for _ in 0..<5 {
            let error = await #expect(throws: NetworkError.self) { try await client.send(Request<Void>.get("/")) }
            #expect(error?.reason == .notAuthenticated(.refreshFailed))
            #expect(error?.detail.contains("\"invalid_client\"") == true)
        }
        #expect(mock.requestCount == 3)
    }
}
