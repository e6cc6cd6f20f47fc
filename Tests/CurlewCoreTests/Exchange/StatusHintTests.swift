// SPDX-License-Identifier: MIT

import Testing

/// What the last line of an error advises after an unsuccessful status.
@Suite(.timeLimit(.minutes(1)))
struct StatusHintTests {
    private func error(
        _ status: HTTPStatus, _ headers: HTTPHeaders = [:], _ call: Request<Void> = .get("/films"),
        pipeline: Pipeline = [], baseURL: BaseURL = "https://api.example"
    ) async throws -> NetworkError {
        let mock = MockTransport.answering { _ in HTTPResponse(status: status, headers: headers) }
        return try #require(await APIClient.mock(mock, baseURL: baseURL, pipeline: pipeline).failure(call))
    }

    @Test("A 401 without a credential advises to add the one that the server asks for")
    func challenge() async throws {
        for (field, advice) in [
            (nil, ".bearer { token }"), ("Bearer realm=x", ".bearer { token }"), ("Basic realm=x", ".basic(…)"),
            ("DIGEST nonce=x", ".digest(…)"),
        ] {
            let error = try await error(.unauthorized, field.map { ["WWW-Authenticate": $0] } ?? [:])
            #expect(error.description.hasSuffix("next      Add a credential, such as \(advice)."))
        }
    }

    @Test("A 401 or 403 advises to check a credential that was sent")
    func refusedCredential() async throws {
        let own = Request<Void>(.get, "/films", headers: [.authorization: "Bearer t"])
        #expect(try await error(.unauthorized, [:], own).hint?.contains("The server refused the credential") == true)
        #expect(try await error(.forbidden, [:], own).hint?.contains("what the credential permits") == true)
        let key = Request<Void>(.get, "/films", headers: ["X-API-Key": "k"])
        #expect(try await error(.unauthorized, [:], key).hint?.contains("The server refused the credential") == true)
    }

    @Test("A 401 or 403 names the reason why no credential was sent")
    func missingCredential() async throws {
        var traits = InterceptorTraits(placement: .authentication)
        traits.principal = { _, _ in .anonymous }
        let pipeline: Pipeline = [Passing(traits: traits)]
        #expect(try await error(.unauthorized, pipeline: pipeline).hint?.contains("sign in first") == true)
        let excluded = Request<Void>.get("/films").withoutCredentials()
        #expect(try await error(.unauthorized, [:], excluded).hint?.contains("excludes credentials") == true)
        #expect(try await error(.forbidden).hint?.contains("No credential was attached") == true)
    }

    @Test(
        "A 404 is explained if the path of the base URL was sent twice",
        arguments: [("/v1/films", true), ("/v1", true), ("/v1x/films", false), ("/films/v1", false)])
    func path(path: String, isTwice: Bool) async throws {
        let call = Request<Void>.get(RequestPath(path), query: ["q": "/v1/v1"])
        let error = try await error(.notFound, [:], call, baseURL: "https://api.example/v1")
        #expect((error.hint?.contains("was sent twice") == true) == isTwice)
    }

    @Test("A 405 and a 415 name what the server accepts")
    func accepted() async throws {
        #expect(try await error(405, ["Allow": "POST"]).hint == "The server allows POST here.")
        let call = Request<Void>.post("/films", json: 1)
        let named = try await error(.unsupportedMediaType, ["Accept-Post": "text/csv"], call)
        #expect(named.hint == "The server accepts text/csv here, not application/json.")
        let unnamed = try await error(.unsupportedMediaType, [:], call)
        #expect(unnamed.hint?.contains("does not accept application/json here") == true)
        #expect(try await error(.unsupportedMediaType, [:], .post("/films")).hint?.contains("has no body") == true)
    }

    @Test("A 429 says how long to wait")
    func tooMany() async throws {
        let error = try await error(.tooManyRequests, [.retryAfter: "30"])
        #expect(error.description.contains("Wait 30 s before the next call."))
        #expect(try await !self.error(.tooManyRequests).description.contains("Wait"))
    }

    private struct Passing: Interceptor {
        let traits: InterceptorTraits

        func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse { try await next(request) }
    }
}
