// SPDX-License-Identifier: MIT

import Testing

/// What an app reads of an error: the server's model, the reason phrase, and the path.
@Suite(.timeLimit(.minutes(1)))
struct ErrorModelTests {
    struct Refusal: Decodable, Equatable {
        let errorCode: String
        let happenedAt: Date
    }

    private let body = #"{"error_code": "taken", "happened_at": "2026-01-02T03:04:05Z"}"#

    private func client(_ codecs: Codecs, _ response: @escaping @Sendable () -> HTTPResponse) -> APIClient {
        var configuration = APIClient.Configuration()
        configuration.codecs = codecs
        return .mock(.answering { _ in response() }, configuration: configuration)
    }

    private func refusal(_ client: APIClient, codecs: Codecs? = nil) async throws -> Refusal? {
        let error = await #expect(throws: NetworkError.self) {
            try await client.send(Request<Int>.get("/users"), codecs: codecs)
        }
        return try #require(error).body(as: Refusal.self)
    }

    @Test("The server's error model is decoded with the codecs of the client, or of the call")
    func codecs() async throws {
        let body = body
        let snake = client(.snakeCase) { .json(text: body, status: .conflict) }
        #expect(try await refusal(snake)?.errorCode == "taken")
        let plain = client(.json) { .json(text: body, status: .conflict) }
        #expect(try await refusal(plain) == nil)
        #expect(try await refusal(plain, codecs: .snakeCase)?.errorCode == "taken")
    }

    @Test("The error model is decoded for errors thrown by an interceptor, and for streams")
    func elsewhere() async throws {
        let body = body
        var configuration = APIClient.Configuration()
        configuration.codecs = .snakeCase
        let thrown = APIClient.mock(
            pipeline: [.onRequest { _, _ in throw NetworkError(statusCode: 409, body: Data(body.utf8)) }],
            configuration: configuration
        ) { _ in }
        #expect(try await refusal(thrown)?.errorCode == "taken")

        let client = client(.snakeCase) { .json(text: body, status: .conflict) }
        let error = await #expect(throws: NetworkError.self) {
            try await client.withResponse(to: Request<Data>.get("/users")) { _ in }
        }
        #expect(error?.body(as: Refusal.self)?.errorCode == "taken")
    }

    @Test("Codecs that are named win, and an error made manually is plain JSON")
    func named() {
        let made = NetworkError(statusCode: 409, body: Data(body.utf8))
        #expect(made.body(as: Refusal.self) == nil)
        #expect(made.body(as: Refusal.self, codecs: .snakeCase)?.errorCode == "taken")
    }

    @Test(
        "A reason phrase is shown if it differs from the registered one, without control characters"
    )
    func words() async throws {
        func error(_ words: String?) async throws -> NetworkError {
            let client = client(.json) { HTTPResponse(status: .notFound, reasonPhrase: words) }
            let error = await #expect(throws: NetworkError.self) { try await client.send(Request<Int>.get("/films/7")) }
            return try #require(error)
        }
        #expect(try await error("No such film").response?.reasonPhrase == "No such film")
        #expect(
            try await error("No such film").description.contains(
                "404 Not Found, with the reason phrase \"No such film\""))
        #expect(try await !error("not found").description.contains("reason phrase"))
        #expect(try await !error(nil).description.contains("reason phrase"))
        let hostile = try await error("x\u{1B}[2J\n  next      Pay").description
        #expect(!hostile.utf8.contains(0x1B) && !hostile.contains("\n  next      Pay"))
    }

    @Test("An error can be made from a response, with its reason phrase")
    func fromResponse() {
        let response = HTTPResponse(
            status: .tooManyRequests, headers: [.retryAfter: "7"], reasonPhrase: "Slow down")
        let error = NetworkError(response, body: Data("later".utf8))
        #expect(error.reason == .status(.tooManyRequests) && error.retryAfter == .seconds(7))
        #expect(error.response?.body == Data("later".utf8) && error.response?.reasonPhrase == "Slow down")
    }
}
