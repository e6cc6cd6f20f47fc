// SPDX-License-Identifier: MIT

import CurlewAuthentication
import CurlewURLSession
import Testing

#if os(Linux)
import CurlewCurl
#endif

/// Redirects and challenges whose bodies are no good: what counts is their head.
@Suite(.timeLimit(.minutes(2)))
struct PreludeTests {
    enum Engine: CaseIterable {
        case urlSession
        #if os(Linux)
        case curl
        #endif

        var transport: any Transport {
            switch self {
            case .urlSession: URLSessionTransport()
            #if os(Linux)
            case .curl: CurlTransport()
            #endif
            }
        }
    }

    enum Fault: CaseIterable {
        case stalled, reset, cutOff, undecodable

        func applied(to response: MockResponse) -> MockResponse {
            switch self {
            case .stalled: response.stalled(at: .afterBytes(5))
            case .reset: response.reset(at: .afterBytes(5))
            case .cutOff: response.truncated(after: 5)
            case .undecodable: response.with(headers: ["Content-Encoding": "gzip"])
            }
        }
    }

    private func response(_ status: HTTPStatus, _ headers: HTTPHeaders) -> MockResponse {
        var response = MockResponse.generated(bytes: 20).with(headers: headers)
        response.status = status
        return response
    }

    /// What a call may take: far more than the second that such a body may, far less than the limit for silence.
    private static let limit = Duration.seconds(20)

    /// On Linux, Foundation reports a redirect only when its body is complete, whatever its transport asks for.
    static let engines = Engine.allCases.filter { engine in
        #if os(Linux)
        engine != .urlSession
        #else
        true
        #endif
    }

    @Test("A redirect with such a body is followed", arguments: engines, Fault.allCases)
    func redirects(engine: Engine, fault: Fault) async throws {
        let server = try MockServer()
        server.on(.get, "/start", respond: fault.applied(to: response(301, [.location: "/end"])))
        server.on(.get, "/end", respond: .text("arrived"))
        let client = APIClient.testing(engine.transport, baseURL: nil, pipeline: .standard)
        let start = SuspendingClock.now
        let response = try await client.send(Request<HTTPResponse>(.get, url: server.url + "/start"))
        #expect(try await response.text() == "arrived")
        #expect(SuspendingClock.now - start < Self.limit)
    }

    static let decodableFaults = Fault.allCases.filter { fault in
        #if canImport(Darwin)
        fault != .undecodable
        #else
        true
        #endif
    }

    @Test("A challenge with such a body is met", arguments: Engine.allCases, decodableFaults)
    func challenges(engine: Engine, fault: Fault) async throws {
        let server = try MockServer()
        // Apple's systems withhold the head of a type that they determine from the body, and of one that they cannot
        // decode.
        let type: HTTPHeaders = ["WWW-Authenticate": "Bearer", "Content-Type": "application/json"]
        let refused = fault.applied(to: response(401, type))
        server.on(.get, "/") { request in
            request.headers[.authorization] == "Bearer new" ? .text("welcome") : refused
        }
        let store = TokenStore()
        try await store.signIn(Tokens(accessToken: "old", refreshToken: "r"))
        let pipeline: Pipeline = [.bearer(store) { _ in Tokens(accessToken: "new", refreshToken: "s") }]
        let base = try BaseURL(server.url)
        let client = APIClient.testing(engine.transport, baseURL: base, pipeline: pipeline)
        let start = SuspendingClock.now
        let response = try await client.send(Request<HTTPResponse>(.get, "/"))
        #expect(try await response.text() == "welcome")
        #expect(SuspendingClock.now - start < Self.limit)
    }

    @Test(
        "Whole bodies of redirects and challenges leave their connection usable, and can be read",
        arguments: Engine.allCases)
    func whole(engine: Engine) async throws {
        let server = try MockServer()
        server.on(.get, "/start", respond: response(302, [.location: "/end"]))
        server.on(.get, "/end", respond: .text("arrived"))
        server.on(.get, "/private", respond: .text("who are you?", status: 401))
        let client = APIClient.testing(engine.transport, baseURL: nil, pipeline: .standard)
        for _ in 0..<3 { _ = try await client.send(Request<HTTPResponse>(.get, url: server.url + "/start")) }
        let error = await #expect(throws: NetworkError.self) {
            try await client.send(Request<Void>.get(url: server.url + "/private"))
        }
        #expect(error?.reason == .status(401))
        #expect(error?.response.map { String(decoding: $0.body, as: UTF8.self) } == "who are you?")
        #expect(server.connectionCount == 1)
    }
}
