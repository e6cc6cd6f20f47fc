// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewAuthentication
@testable import CurlewCore

/// Which credential is attached to which call, and where none is.
@Suite(.timeLimit(.minutes(1)))
struct AuthenticationChoiceTests {
    private let pipeline: Pipeline = [
        .bearer { "user" }, .basic(user: "root", password: "pw", name: "admin"),
        .apiKey("k", in: .header("X-API-Key"), for: "https://other.test"),
        .signing { request, _ in request.headers["X-Signed"] = request.headers[.authorization] ?? "nobody" },
    ]

    private func sent(
        _ choice: RequestOptions.Authentication?, to url: String = "https://api.test/", pipeline: Pipeline? = nil,
        headers: HTTPHeaders = [:]
    ) async throws(NetworkError) -> RecordedRequest? {
        let mock = MockTransport.answering { _ in HTTPResponse() }
        let client = APIClient.testing(mock, baseURL: "https://api.test", pipeline: pipeline ?? self.pipeline)
        var request = Request<Void>.get(url: url)
        request.options.authentication = choice
        for field in headers { request = request.header(field.name, field.value) }
        try await client.send(request)
        return mock.requests.first
    }

    @Test(
        "A call gets the credential that it requests",
        arguments: [
            (nil, "Bearer user"), (.optional, "Bearer user"), (.required, "Bearer user"),
            (.named("admin"), "Basic cm9vdDpwdw=="), (.anonymous, nil),
        ] as [(RequestOptions.Authentication?, String?)])
    func choice(choice: RequestOptions.Authentication?, field: String?) async throws {
        let call = try #require(try await sent(choice))
        #expect(call.request.headers[.authorization] == field)
        let signed = choice == RequestOptions.Authentication.anonymous ? nil : field
        #expect(call.request.headers["X-Signed"] == signed)
        #expect(call.request.headers["X-API-Key"] == nil)
    }

    @Test("A call that demands a credential fails without one, before anything is sent")
    func missing() async throws {
        let requests = Locked(0)
        let mock = MockTransport.answering { _ in
            requests.withLock { $0 += 1 }
            return HTTPResponse()
        }
        for (pipeline, choice) in [
            ([] as Pipeline, RequestOptions.Authentication.required), ([.bearer { nil }], .required),
            ([.bearer(TokenStore())], .required), ([.bearer { "t" }], .named("admin")),
        ] {
            let client = APIClient.testing(mock, baseURL: "https://api.test", pipeline: pipeline)
            var request = Request<Void>.get("/")
            request.options.authentication = choice
            #expect(await failureReason { try await client.send(request) } == .notAuthenticated(.missingCredential))
        }
        #expect(requests.withLock { $0 } == 0)
    }

    @Test("A field of the call is kept, and wins over the credential")
    func own() async throws {
        let call = try #require(try await sent(.required, headers: ["Authorization": "Mine x"]))
        #expect(call.request.headers[.authorization] == "Mine x")
    }

    @Test("A credential for a named origin is sent there and nowhere else")
    func named() async throws {
        let call = try #require(try await sent(nil, to: "https://other.test/x"))
        #expect(call.request.headers["X-API-Key"] == "k")
        #expect(call.request.headers[.authorization] == nil)
        #expect(call.request.headers["X-Signed"] == nil)
    }

    @Test(
        "A key in the query is encoded, and an item that is there already wins",
        arguments: [
            ("/", "/?api%20key=a%26b"), ("/?x=1", "/?x=1&api%20key=a%26b"), ("/?api%20key=me", "/?api%20key=me"),
        ])
    func query(target: String, result: String) async throws {
        let key: Pipeline = [.apiKey("a&b", in: .query("api key"))]
        let call = try #require(try await sent(nil, to: "https://api.test" + target, pipeline: key))
        #expect(call.request.target == result)
    }

    @Test("An error does not show the key in the URL, whatever the item's name", arguments: ["k", "key", "id"])
    func keyInError(name: String) async throws {
        let mock = MockTransport.answering { call in
            throw NetworkError(.unreachable, detail: "No.", request: NetworkError.RequestLine(call.request))
        }
        let client = APIClient.testing(
            mock, baseURL: "https://api.test", pipeline: [.apiKey("s3cret", in: .query(name))])
        let error = await client.failure(Request<Void>.get(url: "https://api.test/x?a=1"))
        #expect(error?.reason == .unreachable)
        #expect(error.map { "\($0)".contains("s3cret") } == false)
        #expect(error?.request?.url == "https://api.test/x?a=1")
        #expect(mock.requests.first?.request.target == "/x?a=1&\(name)=s3cret")
    }

    @Test("A user name that Basic cannot carry is a problem of the pipeline", arguments: ["a:b", "a\nb"])
    func basicName(user: String) async throws {
        let error = await #expect(throws: NetworkError.self) {
            try await sent(nil, pipeline: [.basic(user: user, password: "x")])
        }
        #expect(error?.reason == .configuration)
    }

    @Test("A signature cannot send the request elsewhere")
    func signature() async throws {
        let error = await #expect(throws: NetworkError.self) {
            try await sent(nil, pipeline: [.signing { request, _ in try request.setURL("https://evil.test/") }])
        }
        #expect(error?.reason == .configuration)
    }

    @Test("No description of a pipeline shows a secret")
    func descriptions() {
        let text = Pipeline([
            .basic(user: "root", password: "s3cret"), .apiKey("s3cret", in: .query("key")), .bearer { "s3cret" },
            .bearer(TokenStore(), for: "https://x.test", name: "n"),
        ]).description
        #expect(text == "Basic → APIKey → Bearer → Bearer n(https://x.test) → transport")
        let tokens = Tokens(accessToken: "s3cret", refreshToken: "s3cret2")
        var dumped = ""
        dump(tokens, to: &dumped)
        for text in ["\(tokens)", String(reflecting: tokens), dumped] { #expect(!text.contains("s3cret")) }
    }
}
