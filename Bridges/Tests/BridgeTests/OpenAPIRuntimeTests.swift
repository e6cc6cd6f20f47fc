// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting
import HTTPTypes
import OpenAPIRuntime
import OpenAPIRuntimeBridge
import Testing

@Suite(.timeLimit(.minutes(1)))
struct OpenAPIRuntimeTests {
    private static let server = "https://mock.test/v1"

    private func send(
        _ method: HTTPTypes.HTTPRequest.Method = .get, _ path: String = "/films/1", _ body: HTTPBody? = nil,
        to server: String = server, by client: APIClient
    ) async throws -> (status: Int, body: HTTPBody?) {
        let request = HTTPTypes.HTTPRequest(
            method: method, scheme: nil, authority: nil, path: path, headerFields: [.contentType: "text/plain"])
        let url = try #require(URL(string: server))
        let (response, body) = try await APIClientTransport(client).send(
            request, body: body, baseURL: url, operationID: "getFilm")
        return (response.status.code, body)
    }

    private func text(_ body: HTTPBody?) async throws -> String {
        String(decoding: try await Data(collecting: try #require(body), upTo: 1 << 20), as: UTF8.self)
    }

    /// A body whose chunks have one byte each.
    private func body(
        _ chunks: CountedChunks<ArraySlice<UInt8>>, _ length: HTTPBody.Length = .unknown,
        _ behavior: HTTPBody.IterationBehavior = .single
    ) -> HTTPBody {
        HTTPBody(chunks, length: length, iterationBehavior: behavior)
    }

    @Test("A generated call gets redirects, retries and credentials, and its operation is its name")
    func pipeline() async throws {
        let mock = MockTransport.answering { call in
            if call.path == "/v1/films/1" { return .status(.temporaryRedirect, headers: ["Location": "/v1/films/2"]) }
            return call.context.attempt == 1 ? .status(503) : .text("film")
        }
        let client = APIClient.mock(
            mock, pipeline: .standard.adding(.bearer { "token" }), configuration: .withoutWaits)
        let (status, body) = try await send(.put, "/films/1", HTTPBody(Array("title".utf8)), by: client)
        #expect(status == 200)
        #expect(try await text(body) == "film")
        #expect(mock.requests.map(\.path) == ["/v1/films/1", "/v1/films/2", "/v1/films/2"])
        for call in mock.requests {
            #expect(call.headers[.authorization] == "Bearer token")
            #expect(call.headers[.contentType] == "text/plain")
            #expect(call.text == "title")
            #expect(call.routeName == "getFilm")
        }
    }

    @Test("A response comes from the client's cache")
    func caching() async throws {
        let mock = MockTransport.answering { _ in
            .text("film", headers: ["Cache-Control": "max-age=60"])
        }
        let client = APIClient.mock(mock, pipeline: .standard.adding(.caching()))
        for _ in 1...2 {
            let (_, body) = try await send(by: client)
            #expect(try await text(body) == "film")
        }
        #expect(mock.requestCount == 1)
    }

    @Test("A status is returned, not thrown", arguments: [200, 404, 500])
    func statuses(code: Int) async throws {
        let client = APIClient.mock(.answering { _ in .text("text", status: HTTPStatus(code)) })
        let (status, body) = try await send(by: client)
        #expect(status == code)
        #expect(try await text(body) == "text")
    }

    @Test(
        "The path of a request is appended to the server's URL",
        arguments: [
            ("https://mock.test", "/films?page=2", "https://mock.test/films?page=2"),
            ("https://mock.test/v1/", "/films/a%2Fb", "https://mock.test/v1/films/a%2Fb"),
            ("/v2", "/films", "https://mock.test/v2/films"),
            ("http://other.test:8080/v1", "/films", "http://other.test:8080/v1/films"),
        ])
    func urls(server: String, path: String, expected: String) async throws {
        let mock = MockTransport.answering { _ in .text("film") }
        _ = try await send(.get, path, to: server, by: .mock(mock, pipeline: .standard.adding(.bearer { "token" })))
        #expect(mock.requests.first?.request.urlString == expected)
        #expect((mock.requests.first?.headers[.authorization] != nil) == expected.hasPrefix("https://mock.test/"))
    }

    @Test("A server's URL without a host needs a base URL")
    func missingHost() async throws {
        let client = APIClient(
            baseURL: nil, pipeline: .empty, transport: MockTransport.answering { _ in .text("film") })
        let error = await #expect(throws: NetworkError.self) { try await send(to: "/v1", by: client) }
        #expect(error?.reason == .configuration)
    }

    @Test("A response that can have no body has none")
    func noBody() async throws {
        #expect(try await send(by: .mock(.answering { _ in .status(.noContent) })).body == nil)
        #expect(try await send(.head, by: .mock(.answering { _ in .status(.ok) })).body == nil)
    }

    @Test("A request body is produced while the transport takes it")
    func requestBackPressure() async throws {
        let chunks = CountedChunks<ArraySlice<UInt8>>(count: 100) { [UInt8($0)] }
        let transport = ClosureTransport { request, _ in
            var iterator = try request.body.chunks().makeAsyncIterator()
            for number in 1...10 {
                _ = try await iterator.next()
                #expect(chunks.made.values.count == number)
            }
            return .text("enough")
        }
        let client = APIClient(baseURL: "https://mock.test", pipeline: .empty, transport: transport)
        let (status, _) = try await send(.post, "/films", body(chunks), by: client)
        #expect(status == 200)
        #expect(chunks.made.values.count == 10)
    }

    @Test("A response body is received while it is read")
    func responseBackPressure() async throws {
        let chunks = CountedChunks(count: 100) { Data([UInt8($0)]) }
        let client = APIClient.mock(.answering { _ in Curlew.HTTPResponse(body: ResponseBody(chunks, length: 100)) })
        let (_, body) = try await send(by: client)
        #expect(body?.length == .known(100))
        #expect(chunks.made.values.isEmpty)
        var iterator = try #require(body).makeAsyncIterator()
        for number in 1...10 {
            #expect(try await iterator.next() == [UInt8(number - 1)])
            #expect(chunks.made.values.count == number)
        }
    }

    @Test("A body that can be read once is sent once, and one that can be read again is sent again")
    func replays() async throws {
        let mock = MockTransport.answering { $0.context.attempt == 1 ? .status(503) : .text("film") }
        let client = APIClient.mock(mock, pipeline: .standard, configuration: .withoutWaits)
        let chunks = CountedChunks<ArraySlice<UInt8>>(count: 3) { [UInt8($0)] }
        #expect(try await send(.put, "/films/1", body(chunks), by: client).status == 503)
        #expect(mock.requests.map(\.body) == [Data([0, 1, 2])])
        #expect(try await send(.put, "/films/1", body(chunks, .unknown, .multiple), by: client).status == 200)
        #expect(mock.requests.map(\.body) == [Data](repeating: Data([0, 1, 2]), count: 3))
    }

    @Test("The limit for response bodies applies")
    func limits() async throws {
        let chunks = CountedChunks(count: 100) { Data([UInt8($0)]) }
        let client = APIClient.mock(
            .answering { _ in Curlew.HTTPResponse(body: ResponseBody(chunks)) },
            configuration: APIClient.Configuration(limits: Limits(responseBody: 10)))
        let (_, body) = try await send(by: client)
        let error = await #expect(throws: NetworkError.self) { try await text(body) }
        #expect(error?.reason == .limitExceeded(.responseBody))
    }

    @Test("An error of the transport is thrown as it is, and cancellation as the language has it")
    func errors() async throws {
        let error = await #expect(throws: NetworkError.self) {
            try await send(by: .mock(.answering { _ in throw NetworkError(.unreachable) }))
        }
        #expect(error?.reason == .unreachable)
        await #expect(throws: CancellationError.self) {
            try await send(by: .mock(.answering { _ in throw NetworkError(.cancelled) }))
        }
    }

    @Test("A body that breaks off throws the error of the transport")
    func brokenBody() async throws {
        let chunks = CountedChunks<Data>(count: 5) { index in
            guard index < 2 else { throw NetworkError(.connectionLost(.requestMayHaveArrived)) }
            return Data([UInt8(index)])
        }
        let (_, body) = try await send(by: .mock(.answering { _ in Curlew.HTTPResponse(body: ResponseBody(chunks)) }))
        var iterator = try #require(body).makeAsyncIterator()
        #expect(try await iterator.next() == [0])
        #expect(try await iterator.next() == [1])
        let error = await #expect(throws: NetworkError.self) { try await iterator.next() }
        #expect(error?.reason == .connectionLost(.requestMayHaveArrived))
    }

    @Test("The error of a request body ends the call")
    func failingRequestBody() async throws {
        struct Broken: Error {}
        let chunks = CountedChunks<ArraySlice<UInt8>>(count: 5) { _ in throw Broken() }
        let client = APIClient.mock(.answering { _ in .text("film") })
        let error = await #expect(throws: NetworkError.self) {
            try await send(.post, "/films", body(chunks), by: client)
        }
        #expect(error?.underlying is Broken)
    }

    @Test("Bodies are streamed both ways over a connection")
    func overTheNetwork() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(.post, "/v1/echo") { .data($0.body) }
        let client = APIClient(baseURL: try BaseURL(server.url), pipeline: .standard)
        let chunks = CountedChunks<ArraySlice<UInt8>>(count: 64) { index in
            ArraySlice(repeatElement(UInt8(index), count: 64 << 10))
        }
        let (status, body) = try await send(
            .post, "/echo", body(chunks, .known(4 << 20)), to: "\(server.url)/v1", by: client)
        #expect(status == 200)
        var count = 0
        for try await chunk in try #require(body) { count += chunk.count }
        #expect(count == 4 << 20)
        #expect(server.requests.first?.headers[.contentLength] == "\(4 << 20)")
    }
}
