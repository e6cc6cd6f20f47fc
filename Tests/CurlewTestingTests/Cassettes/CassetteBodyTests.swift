// SPDX-License-Identifier: MIT

import CurlewCookies
import Testing

@testable import CurlewTesting

@Suite(.timeLimit(.minutes(2)))
struct CassetteBodyTests {
    static let raw = Request<HTTPResponse>(.get, "/x")

    /// Reads the body of a response in its chunks.
    static func chunks(_ client: APIClient, _ call: Request<HTTPResponse> = raw) async throws -> [String] {
        try await client.withResponse(to: call) { response in try await read(response) }
    }

    private static func read(_ response: HTTPResponse) async throws -> [String] {
        var chunks: [String] = []
        for try await chunk in response.body { chunks.append(String(decoding: chunk, as: UTF8.self)) }
        return chunks
    }

    @Test("A streamed body is recorded while it is read; records and events keep their chunks")
    func chunks() async throws {
        for type in [MediaType.eventStream, .jsonLines, .text] {
            let pieces = ["data: 1\n\ndata:", " 2\n\n", "data: 3\n\n"]
            let folder = try CassetteFolder()
            let path = try await record(folder, .answering { _ in .pieces(pieces, type: type) }) {
                let read = try await Self.chunks($0)
                #expect(read == pieces)
            }
            #expect(try folder.text().contains(#""_chunks""#) == (type != .text))
            let replayed = try await Self.chunks(client(try Cassette(path, mode: .replay)))
            #expect(replayed == (type == .text ? [pieces.joined()] : pieces), "\(type)")
        }
    }

    @Test("An event stream with a secret is replayed event by event, up to where it was left")
    func events() async throws {
        let folder = try CassetteFolder()
        let pieces = ["data: {\"token\": \"abc", "def\"}\n\n", "data: 2\n\n", "data: 3\n\n"]
        let cassette = try Cassette(
            folder.path(), mode: .recordNew,
            recording: MockTransport.answering { _ in .pieces(pieces, type: .eventStream) })
        _ = try await client(cassette).withResponse(to: Self.raw) { response in
            var iterator = response.body.makeAsyncIterator()
            for _ in 0..<3 { _ = try await iterator.next() }
        }
        try await Self.settled(cassette)
        try await cassette.finish()
        #expect(try !folder.text().contains("abc"))
        let replayed = try await Self.chunks(client(try Cassette(folder.path(), mode: .replay)))
        #expect(replayed == ["data: {\"token\": \"REDACTED\"}\n\n", "data: 2\n\n"])
    }

    /// Waits until the recording of a body that was left has ended.
    static func settled(_ cassette: Cassette) async throws {
        for _ in 0..<100_000 where cassette.count == 0 && cassette.problems.isEmpty { await Task.yield() }
    }

    @Test("A body that the caller leaves is not recorded, and is a problem")
    func dropped() async throws {
        let folder = try CassetteFolder()
        let cassette = try Cassette(
            folder.path(), mode: .recordNew, recording: MockTransport.answering { _ in .pieces(["a", "b"]) },
            options: any)
        _ = try await client(cassette).withResponse(to: Self.raw) { response in
            var iterator = response.body.makeAsyncIterator()
            _ = try await iterator.next()
        }
        try await Self.settled(cassette)
        #expect(cassette.problems.first?.contains("was not read to its end") == true)
        #expect(cassette.count == 0)
    }

    private var any: Cassette.Options {
        var options = Cassette.Options()
        options.opaqueTypes = [.any]
        return options
    }

    @Test("A body over the limit fails the recording, of a request or response, streamed or not")
    func limit() async throws {
        let folder = try CassetteFolder()
        var options = Cassette.Options()
        options.maximumBodyBytes = 10
        let long = String(repeating: "x", count: 11)
        for stub in [{ HTTPResponse.text(long) }, { HTTPResponse.pieces(["123456", "789012"], type: .text) }]
            as [@Sendable () -> HTTPResponse]
        {
            let cassette = try Cassette(
                folder.path(), mode: .recordNew, recording: MockTransport.answering { _ in stub() }, options: options)
            let error = await #expect(throws: NetworkError.self) { try await Self.chunks(client(cassette)) }
            #expect(error?.reason == .refused(by: .cassette))
            #expect(error?.detail.contains("over 10 bytes") == true)
            #expect(cassette.count == 0)
        }
        let cassette = try Cassette(folder.path(), mode: .recordNew, recording: noNetwork, options: options)
        await #expect(throws: NetworkError.self) {
            try await client(cassette).send(.post("/x", body: .text(long)) as Request<String>)
        }
    }

    @Test("Binary, XML and multipart bodies are refused unless their media type is allowed")
    func opaque() async throws {
        let xml = Data("<a><password>p</password><b>1</b></a>".utf8)
        let binary = Data([0, 1, 0xFF])
        for (data, type) in [
            (xml, MediaType.xml), (binary, .octetStream), (binary, .multipartFormData), (binary, .json),
        ] {
            let folder = try CassetteFolder()
            let mock = MockTransport.answering { _ in .data(data, type: type) }
            let cassette = try Cassette(folder.path(), mode: .recordNew, recording: mock)
            let error = await #expect(throws: NetworkError.self) { try await client(cassette).send(Self.raw) }
            #expect(error?.reason == .refused(by: .cassette), "\(type)")
            #expect(error?.hint?.contains("opaqueTypes") == true)
            let request = Request<HTTPResponse>(.post, "/x", body: .data(data, type: type))
            let sent = try Cassette(folder.path(), mode: .recordNew, recording: noNetwork)
            await #expect(throws: NetworkError.self) { try await client(sent).send(request) }

            let path = try await record(folder, mock, options: any) { _ = try await $0.send(Self.raw) }
            let replayed = try await client(try Cassette(path, mode: .replay, options: any)).send(Self.raw)
            #expect(try await replayed.data() == data)
        }
    }

    @Test(
        "Failures are recorded and replayed with their reasons",
        arguments: [
            NetworkError.Reason.unreachable, .secureConnectionFailed(.expired), .timedOut(.connect),
            .connectionLost(.requestMayHaveArrived), .badResponse, .proxyFailed(.refused(502)),
            .limitExceeded(.responseHeaders),
        ])
    func failures(reason: NetworkError.Reason) async throws {
        let folder = try CassetteFolder()
        let mock = MockTransport { $0.fail(with: NetworkError(reason, detail: "the cause: \"token\": \"s3cret\"")) }
        let path = try await record(folder, mock) { client in
            await #expect(throws: NetworkError.self) { try await client.send(Self.raw) }
        }
        let text = try folder.text()
        #expect(text.contains("\"_error\"") && !text.contains("s3cret"))
        let error = await #expect(throws: NetworkError.self) {
            try await client(try Cassette(path, mode: .replay)).send(Self.raw)
        }
        #expect(error?.reason == reason)
        #expect(error?.detail.contains("the cause") == true)
    }

    @Test("A body that breaks off is replayed up to there, and then breaks off")
    func brokenBody() async throws {
        let folder = try CassetteFolder()
        let lost = NetworkError(.connectionLost(.requestMayHaveArrived), detail: "reset")
        let transport = ClosureTransport { _, _ in
            HTTPResponse(
                headers: [.contentType: "text/plain"],
                body: ResponseBody(
                    AsyncThrowingStream<Data, any Error> { source in
                        source.yield(Data("half".utf8))
                        source.finish(throwing: lost)
                    }))
        }
        let cassette = try Cassette(folder.path(), mode: .recordNew, recording: transport)
        await #expect(throws: NetworkError.self) { try await Self.chunks(client(cassette)) }
        try await cassette.finish()
        let seen = Locked<[String]>([])
        let error = await #expect(throws: NetworkError.self) {
            try await client(try Cassette(folder.path(), mode: .replay)).withResponse(to: Self.raw) { response in
                try await Self.collect(response, into: seen)
            }
        }
        #expect(seen.withLock { $0 } == ["half"])
        #expect(error?.reason == .connectionLost(.requestMayHaveArrived))
    }

    private static func collect(_ response: HTTPResponse, into seen: Locked<[String]>) async throws {
        for try await chunk in response.body { seen.withLock { $0.append(String(decoding: chunk, as: UTF8.self)) } }
    }

    @Test("A body that can be produced only once is recorded and sent")
    func oneShot() async throws {
        let folder = try CassetteFolder()
        let mock = MockTransport.answering { call in .text("got \(call.text)") }
        let call = Request<String>(
            .post, "/x",
            body: .stream(type: .text) {
                RequestBody.Chunks(
                    AsyncStream { source in
                        for part in ["o", "ne"] { source.yield(Data(part.utf8)) }
                        source.finish()
                    })
            })
        let path = try await record(folder, mock) {
            let text = try await $0.send(call)
            #expect(text == "got one")
        }
        #expect(try await client(try Cassette(path, mode: .replay)).send(call) == "got one")
    }

    @Test("Retries, redirects and cookies work through a cassette as they did without it")
    func pipeline() async throws {
        let folder = try CassetteFolder()
        let mock = MockTransport {
            $0.on(
                .get, "/start",
                .status(302, headers: [.location: "/end?code=s3cret", .setCookie: "sid=s3cret; Path=/; HttpOnly"]))
            let count = Locked(0)
            $0.on(.get, "/end") { call in
                let number = count.next()
                return number == 1 ? .status(503) : .text("cookies \(call.request.headers[values: .cookie].count)")
            }
        }
        let clock = ManualClock.skippingWaits
        let configuration = APIClient.Configuration(time: clock)
        func pipeline() -> Pipeline { [.redirects(), .cookies(CookieStore()), .retry()] }
        let cassette = try Cassette(folder.path(), mode: .recordNew, recording: mock)
        let call = Request<String>.get("/start")
        #expect(
            try await client(cassette, pipeline: pipeline(), configuration: configuration).send(call) == "cookies 1")
        try await cassette.finish()
        #expect(try !folder.text().contains("s3cret"))
        #expect(try folder.text().contains("sid=REDACTED; Path=/; HttpOnly"))
        let replay = try Cassette(folder.path(), mode: .replay)
        let again = client(
            replay, pipeline: pipeline(), configuration: configuration)
        let response = try await again.response(for: call)
        #expect(response.value == "cookies 1")
        #expect(response.attempts.count >= 2)
        try replay.verify()
    }
}
