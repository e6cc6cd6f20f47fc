// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewAuthentication
@testable import CurlewCore

/// What is believed of an authorization server's answers, and where its requests go.
@Suite(.timeLimit(.minutes(1)))
struct OAuth2AnswerTests {
    private let app = OAuth2(clientID: "app", tokenEndpoint: "https://id.test/token")

    private func code(_ url: String, _ redirect: String = "app://back", state: String = "s") throws -> String {
        try app.code(from: url, redirect: redirect, state: state)
    }

    @Test("The code is taken from a response to this sign-in only")
    func code() throws {
        #expect(try code("app://back?code=c%2F1&state=s") == "c/1")
        #expect(try code("app://back?state=a+b&code=c#fragment?code=no", state: "a b") == "c")
        for url in [
            "app://back?code=c", "app://back?code=c&state=other", "app://back?code=c&state=s&state=s", "app://back",
            "app://back?state=s", "app://back?state=s&code=", "app://back?state=s&code=a&code=b", "",
        ] {
            #expect(throws: NetworkError.self, "\(url)") { try code(url) }
        }
        #expect(throws: NetworkError.self) { try code("app://back?code=c&state=", state: "") }
        let error = #expect(throws: NetworkError.self) {
            try code("app://back?error=access_denied&error_description=No+way&state=s")
        }
        #expect(error?.reason == .notAuthenticated(.refused))
        #expect(error?.detail.contains("access_denied: No way") == true)
    }

    @Test(
        "A response to another redirect URI does not belong to this sign-in",
        arguments: [
            ("app://back", "app://other"), ("app://back", "other://back"), ("app://back", "app://back/more"),
            ("https://app.test/in", "https://app.test.evil.test/in"), ("https://app.test/in", "http://app.test/in"),
            ("https://app.test/in", "https://app.test/IN"), ("http://127.0.0.1:7001/", "http://127.0.0.1:7002/"),
            ("https://app.test/in?tenant=1", "https://app.test/in"), ("app:/back", "app:/back\u{301}"),
            ("https://app.test/in?tenant=1", "https://app.test/in?tenant=2"),
        ])
    func otherPlace(redirect: String, came: String) {
        let url = came + (came.contains("?") ? "&" : "?") + "code=c&state=s"
        let error = #expect(throws: NetworkError.self) { try code(url, redirect) }
        #expect(error?.reason == .invalidRequest && error?.detail.contains("redirect URI") == true)
    }

    @Test(
        "The same redirect URI may be written otherwise",
        arguments: [
            ("app://Back", "APP://back?code=c&state=s"), ("https://app.test", "https://app.test/?code=c&state=s"),
            ("https://app.test/in?tenant=1", "https://APP.test/in?tenant=1&code=c&state=s"),
            ("app:/back", "app:/back?code=c&state=s#_=_"),
        ])
    func samePlace(redirect: String, url: String) throws {
        #expect(try code(url, redirect) == "c")
    }

    @Test("Where the app names the server, every response has to name it too (RFC 9207)")
    func issuer() throws {
        let app = OAuth2(clientID: "app", tokenEndpoint: "https://id.test/token", issuer: "https://id.test")
        func code(_ more: String) throws -> String {
            try app.code(from: "app://back?state=s&code=c" + more, redirect: "app://back", state: "s")
        }
        #expect(try code("&iss=https%3A%2F%2Fid.test") == "c")
        for more in [
            "", "&iss=", "&iss=https%3A%2F%2Fevil.test", "&iss=https%3A%2F%2Fid.test%2F", "&iss=HTTPS%3A%2F%2Fid.test",
            "&iss=https%3A%2F%2Fid.test&iss=https%3A%2F%2Fid.test", "&error=access_denied",
        ] {
            let error = #expect(throws: NetworkError.self, "\(more)") { try code(more) }
            #expect(error?.reason == .invalidRequest, "\(more)")
        }
        // Who does not name a server is not concerned.
        #expect(try self.code("app://back?state=s&code=c&iss=x") == "c")
    }

    @Test("No secret follows a redirect of the token endpoint", arguments: [301, 302, 303, 307, 308])
    func redirects(status: Int) async throws {
        let mock = MockTransport.answering { call in
            guard call.request.origin.host == "id.test" else { return .json(text: #"{"access_token":"theirs"}"#) }
            return HTTPResponse(status: HTTPStatus(status), headers: ["Location": "https://evil.test/token"])
        }
        let client = APIClient.testing(mock, baseURL: "https://api.test", pipeline: [.redirects()])
        let oauth = OAuth2(
            clientID: "a", tokenEndpoint: "https://id.test/token", authentication: .form(secret: "s3cret"))
        for request in [
            oauth.exchange("c", redirect: "x", OAuth2.PKCE()), oauth.renewal(of: "r"), oauth.clientCredentials,
        ] {
            let error = await #expect(throws: NetworkError.self) { try await client.send(request) }
            #expect(error?.statusCode == status)
        }
        #expect(mock.requestCount == 3)
        #expect(mock.requests.allSatisfy { $0.request.origin.host == "id.test" })
    }

    @Test("Tokens of another type than Bearer are not used as bearer tokens")
    func types() async throws {
        for (type, isTaken) in [
            ("Bearer", true), ("bearer", true), (nil, true), ("DPoP", false), ("mac", false), ("N_A", false),
        ] as [(String?, Bool)] {
            let field = type.map { #","token_type":"\#($0)""# } ?? ""
            let mock = MockTransport.answering { _ in .json(text: #"{"access_token":"a"\#(field)}"#) }
            let client = APIClient.testing(mock, baseURL: "https://api.test")
            do throws(NetworkError) {
                _ = try await client.send(app.clientCredentials)
                #expect(isTaken, "\(type ?? "none")")
            } catch {
                #expect(!isTaken && error.reason == .decoding && error.detail.contains("Bearer"), "\(type ?? "none")")
            }
        }
        // The rule of services with a form of their own: what is bound to a key is refused, other words are theirs.
        for (type, isTaken) in [("DPoP", false), ("pop", false), ("MAC", false), ("bot", true), ("JWT", true)] {
            let text = Data(#"{"access_token":"a","token_type":"\#(type)"}"#.utf8)
            #expect(((try? JSONDecoder().decode(Tokens.self, from: text)) != nil) == isTaken, "\(type)")
        }
    }

    @Test("No text and no dump shows a secret")
    func descriptions() {
        let oauth = OAuth2(
            clientID: "a", tokenEndpoint: "https://id.test/token", authentication: .form(secret: "s3cret"))
        let things: [Any] = [
            OAuth2.ClientAuthentication.form(secret: "s3cret"), OAuth2.ClientAuthentication.basic(secret: "s3cret"),
            oauth, BasicInterceptor(user: "s3cret", password: "s3cret"),
            DigestInterceptor(user: "s3cret", password: "s3cret"), APIKeyInterceptor("s3cret", in: .query("key")),
            [BasicInterceptor(user: "s3cret", password: "s3cret")],
        ]
        let basic = Data("s3cret:s3cret".utf8).base64EncodedString()
        for thing in things {
            var text = "\(thing) \(String(reflecting: thing)) "
            dump(thing, to: &text)
            #expect(!text.contains("s3cret") && !text.contains(basic), "\(type(of: thing))")
        }
    }
}
