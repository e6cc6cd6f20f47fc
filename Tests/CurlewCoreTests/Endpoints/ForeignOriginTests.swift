// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore
@testable import CurlewObservability

/// What is sent to another origin than the client's, when the app calls it itself.
@Suite(.timeLimit(.minutes(1)))
struct ForeignOriginTests {
    static let canary = "hunter2"

    /// An app's interceptor that knows nothing of origins.
    struct Signed: Interceptor {
        func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
            var request = request
            request.headers["X-Signed-By"] = ForeignOriginTests.canary
            request.headers["Traceparent"] = "00-1"
            return try await next(request)
        }
    }

    static func client(_ pipeline: Pipeline, headers: HTTPHeaders = [:]) -> APIClient {
        .mock(baseURL: "https://home.test", pipeline: pipeline, configuration: .init(headers: headers)) {
            $0.onAny { _ in .status(204) }
        }
    }

    static let pipelines: [Pipeline] = Placement.allCases.flatMap { placement in
        [
            Pipeline.standard.adding(
                .onRequest(at: placement) { request, _ in
                    request.headers[.authorization] = canary
                    request.headers["X-Unknown"] = canary
                    request.appendQuery("api_key", canary)
                }),
            Pipeline.standard.adding(Signed(), at: placement),
        ]
    }

    @Test(
        "An absolute URL and a client for another origin get nothing that a hook adds for the first",
        arguments: pipelines)
    func hooks(pipeline: Pipeline) async throws {
        let client = Self.client(pipeline, headers: ["X-Home": Self.canary])
        let call = Request<Void>.get(url: "https://other.test/x").header("X-Own", "1")
        try await client.send(call)
        try await client.with(baseURL: "https://other.test").send(Request<Void>.get("/x").header("X-Own", "1"))
        try await client.with(baseURL: "https://other.test").with(baseURL: "https://third.test").send(
            Request<Void>.get("/x").header("X-Own", "1"))
        #expect(client.recordedCalls.count == 3)
        for call in client.recordedCalls {
            let sent = "\(call.request.urlString) \(call.request.headers.map(\.value))"
            #expect(!sent.contains(Self.canary), "\(sent)")
            #expect(call.request.headers["X-Own"] == "1")
        }
        try await client.send(Request<Void>.get("/x"))
        let home = try #require(client.recordedCalls.last?.request)
        #expect("\(home.headers.map(\.value))".contains(Self.canary))
    }

    @Test("A client without a base URL sends its fields nowhere, unless they are harmless")
    func homeless() async throws {
        let mock = MockTransport { $0.onAny { _ in .status(204) } }
        let headers: HTTPHeaders = [.authorization: Self.canary, "X-Unknown": Self.canary, .acceptLanguage: "de"]
        let client = APIClient.testing(mock, baseURL: nil, pipeline: .standard, headers: headers)
        try await client.send(Request<Void>.get(url: "https://other.test/x").header("X-Own", "1"))
        let request = try #require(mock.requests.last?.request)
        #expect(!"\(request.headers.map(\.value))".contains(Self.canary))
        #expect(request.headers["X-Own"] == "1" && request.headers[.acceptLanguage] == "de")
    }

    @Test(
        "Without a base URL, what a hook adds stays at the origin of the call after a redirect", arguments: pipelines)
    func homelessRedirect(pipeline: Pipeline) async throws {
        let mock = MockTransport {
            $0.on(.get, "/x") { _ in HTTPResponse(status: 302, headers: ["Location": "https://evil.test/y"]) }
            $0.onAny { _ in .status(204) }
        }
        let client = APIClient.testing(mock, baseURL: nil, pipeline: pipeline)
        try await client.send(Request<Void>.get(url: "https://home.test/x"))
        let sent = mock.requests.map { "\($0.request.urlString) \($0.request.headers.map(\.value))" }
        #expect(sent.count == 2 && sent[0].contains(Self.canary) && !sent[1].contains(Self.canary), "\(sent)")
    }

    @Test("Fields that a hook for an origin adds are sent to that origin only")
    func scoped() async throws {
        let hook = BuiltInInterceptor.onRequest(for: "https://other.test/any") { request, _ in
            request.headers[.authorization] = Self.canary
        }
        let client = Self.client(.standard.adding(hook))
        try await client.send(Request<Void>.get(url: "https://other.test/x"))
        try await client.send(Request<Void>.get("/x"))
        try await client.send(Request<Void>.get(url: "https://third.test/x"))
        try await client.with(baseURL: "https://other.test").send(Request<Void>.get("/x"))
        #expect(
            client.recordedCalls.map { $0.request.headers[.authorization] } == [Self.canary, nil, nil, Self.canary])
        #expect(client.description.contains("onRequest(https://other.test)"))
        let broken = Self.client([.onRequest(for: "other.test") { _, _ in }])
        #expect(broken.problems.first?.hasPrefix("The hook has no origin") == true)
    }

    @Test(
        "The declared scope of an app's interceptor decides which origins receive what it adds",
        arguments: [
            (nil, [true, false, false, false]), (.clientOrigin, [true, false, false, false]),
            (.unrestricted, [true, true, true, true]),
            (Origin(scheme: "https", host: "other.test").map { .origin($0) }, [false, true, true, false]),
        ] as [(InterceptorTraits.Scope?, [Bool])])
    func traits(scope: InterceptorTraits.Scope?, isSent: [Bool]) async throws {
        struct Scoped: Interceptor {
            let traits: InterceptorTraits

            func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
                try await Signed().intercept(request, next: next)
            }
        }
        let traits = scope.map { InterceptorTraits(scope: $0) } ?? InterceptorTraits()
        let client = Self.client(.standard.adding(Scoped(traits: traits)))
        try await client.send(Request<Void>.get("/x"))
        try await client.send(Request<Void>.get(url: "https://other.test/x"))
        try await client.with(baseURL: "https://other.test").send(Request<Void>.get("/x"))
        try await client.with(baseURL: "https://third.test").send(Request<Void>.get("/x"))
        #expect(client.recordedCalls.map { $0.request.headers["X-Signed-By"] == Self.canary } == isSent)
    }

    @Test("A declared field is sent, and one that is declared secret is not")
    func declared() async throws {
        let pipeline: Pipeline = [
            .onRequest { request, _ in
                request.headers["X-App"] = "1"
                request.headers["X-Request-ID"] = "2"
            }
        ]
        var configuration = APIClient.Configuration()
        configuration.fields = Redaction.Rules(harmless: ["X-App"], secret: ["X-Request-ID"])
        let client = APIClient.mock(pipeline: pipeline, configuration: configuration) { $0.onAny { _ in .status(204) } }
        try await client.send(Request<Void>.get(url: "https://other.test/x"))
        #expect(client.recordedCalls.last?.request.headers["X-App"] == "1")
        #expect(client.recordedCalls.last?.request.headers["X-Request-ID"] == nil)
    }

    @Test("An interceptor that points the request elsewhere takes nothing along that may be a secret")
    func moved() async throws {
        let hook = BuiltInInterceptor.onRequest(at: .logging) { request, _ in
            try request.setURL("https://other.test/x?token=hunter2&a=1")
        }
        let client = Self.client(.standard.adding(hook), headers: ["X-Home": Self.canary])
        try await client.send(Request<Void>.get("/x").header(.authorization, Self.canary).header(.accept, "text/plain"))
        let request = try #require(client.recordedCalls.last?.request)
        #expect(request.urlString == "https://other.test/x?a=1" && request.headers[.accept] == "text/plain")
        #expect(!"\(request.headers.map(\.value))".contains(Self.canary))
    }

    @Test("A client without a base URL says which of its fields go nowhere")
    func homelessProblem() {
        let configuration = APIClient.Configuration(headers: [.authorization: Self.canary, .acceptLanguage: "de"])
        let client = APIClient.testing(MockTransport(), baseURL: nil, configuration: configuration)
        #expect(
            client.problems.count == 1 && client.problems.first?.contains("no call receives Authorization of") == true)
        let based = client.with(baseURL: "https://a.test")
        #expect(based.problems.isEmpty)
    }
}
