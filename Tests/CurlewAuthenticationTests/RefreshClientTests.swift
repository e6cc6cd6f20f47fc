// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewAuthentication
@testable import CurlewCore

/// The client that a refresh closure receives: the client of the call, without its pipeline.
@Suite(.timeLimit(.minutes(1)))
struct RefreshClientTests {
    /// A model whose members have other names with each of the codecs.
    private struct Failure: Codable, Equatable { var requestId = "7" }

    private static let origins: [(base: String, scope: String?, isHome: Bool)] = [
        ("https://api.test", nil, true), ("https://api.test", "https://api.test/elsewhere", true),
        ("https://api.test", "https://id.test", false), ("http://localhost", "https://localhost", true),
        ("https://localhost", "http://localhost", false),
    ]
    private static let paths = ["", "/", "/v1", "/v1/", "/a/b%20c/v2.0"]

    /// A service that refuses every token but "new", and refreshes tokens with `status`.
    private func service(_ status: HTTPStatus, _ codecs: Codecs) -> MockTransport {
        MockTransport.answering { call in
            guard call.request.target.contains("/token") else {
                let isNew = call.request.headers[.authorization] == "Bearer new"
                return HTTPResponse(status: isNew ? .ok : .unauthorized)
            }
            let body = try status.isSuccess ? codecs.encode(["accessToken": "new"]) : codecs.encode(Failure())
            return HTTPResponse(status: status, headers: [.contentType: "application/json"], body: ResponseBody(body))
        }
    }

    private func client(
        _ base: String, for scope: String? = nil, _ mock: MockTransport, _ codecs: Codecs,
        refresh: @escaping @Sendable (TokenStore.Refresh) async throws -> Tokens
    ) async throws -> APIClient {
        let store = TokenStore()
        try await store.signIn(Tokens(accessToken: "old", refreshToken: "r"))
        var configuration = APIClient.Configuration(codecs: codecs)
        configuration.headers = ["X-Tenant": "t"]
        configuration.userAgent = "Test/1"
        configuration.timeouts.idle = .seconds(7)
        configuration.limits.responseBody = 12_345
        let pipeline: Pipeline = [
            .bearer(store, for: scope, refresh: refresh), .onRequest { request, _ in request.headers["X-Hook"] = "1" },
        ]
        return APIClient(
            baseURL: try BaseURL(base), pipeline: pipeline, transport: mock, configuration: configuration
        ).with(query: ["version": 2])
    }

    @Test(
        "The refresh client has the client's base path, fields, query and settings, no interceptor",
        arguments: origins.flatMap { origin in paths.map { (origin.base, origin.scope, origin.isHome, $0) } },
        [Codecs.json, .snakeCase])
    func settings(_ place: (base: String, scope: String?, isHome: Bool, path: String), codecs: Codecs) async throws {
        let mock = service(.ok, codecs)
        let client = try await client(place.base + place.path, for: place.scope, mock, codecs) {
            try await $0.client.send(.post("/token"))
        }
        try await client.send(Request<Void>.get(url: "\(place.scope ?? place.base)/me"))
        let call = try #require(mock.requests.first { $0.request.method == .post })
        let path = place.path.hasSuffix("/") ? String(place.path.dropLast()) : place.path
        #expect(call.request.origin == (try HTTPRequest(url: place.scope ?? place.base).origin))
        #expect(call.request.target == (place.isHome ? "\(path)/token?version=2" : "/token"))
        #expect(call.request.headers["X-Tenant"] == (place.isHome ? "t" : nil))
        #expect(call.request.headers["X-Hook"] == nil && call.request.headers[.authorization] == nil)
        #expect(call.request.headers[.userAgent] == "Test/1")
        #expect(call.context.timeouts.idle == .seconds(7) && call.context.limits.responseBody == 12_345)
        #expect(mock.requests.last?.request.headers[.authorization] == "Bearer new")
    }

    @Test(
        "A refresh's error decodes with the client's codecs, and is never the status of the call",
        arguments: [400, 401, 403, 404, 409, 410, 422, 429, 500, 503], [Codecs.json, .snakeCase])
    func errors(status: Int, codecs: Codecs) async throws {
        let seen = Locked<Failure?>(nil)
        let mock = service(HTTPStatus(status), codecs)
        let client = try await client("https://api.test/v1", mock, codecs) { refresh in
            do throws(NetworkError) {
                return try await refresh.client.send(.post("/token"))
            } catch {
                let model = error.body(as: Failure.self)
                seen.withLock { $0 = model }
                throw error
            }
        }
        let error = await client.failure(Request<Void>.get("/product/1"))
        #expect(seen.withLock { $0 } == Failure())
        #expect(error?.reason == .notAuthenticated(.refreshFailed) && error?.statusCode == nil)
        #expect(error?.isNotFound == false && error?.request?.url.hasSuffix("/v1/product/1?version=2") == true)
        #expect((error?.underlying as? NetworkError)?.statusCode == status)
    }

    @Test("The refresh client sends the client's fields to no other origin")
    func foreign() async throws {
        let mock = service(.ok, .json)
        let client = try await client("https://api.test/v1", mock, .json) {
            try await $0.client.send(Request<Tokens>(.post, url: "https://id.test/token"))
        }
        try await client.send(Request<Void>.get("/me"))
        let call = try #require(mock.requests.first { $0.request.origin.host == "id.test" })
        #expect(call.request.target == "/token" && call.request.headers["X-Tenant"] == nil)
        #expect(call.request.headers[.authorization] == nil)
    }

    @Test("50 calls, some cancelled while waiting, are one refresh, below the base path")
    func concurrent() async throws {
        let (began, gate) = (SharedResult<Void>(), SharedResult<Void>())
        let mock = service(.ok, .json)
        let client = try await client("https://api.test/v1", mock, .json) {
            began.finish(.success(()))
            try await gate.wait()
            return try await $0.client.send(.post("/token"))
        }
        let calls = (0..<50).map { _ in
            Task { await client.failure(Request<Void>.get("/me")) }
        }
        try await began.wait()
        for call in calls.prefix(10) { call.cancel() }
        for call in calls.prefix(10) { #expect(await call.value?.isCancelled == true) }
        gate.finish(.success(()))
        for call in calls.dropFirst(10) { #expect(await call.value == nil) }
        #expect(mock.requests.count { $0.request.method == .post } == 1)
    }
}
