// SPDX-License-Identifier: MIT

import Testing

@Suite(.timeLimit(.minutes(1)))
struct MockRecordingTests {
    @Test("A test waits for requests, and receives a list of them if they do not arrive")
    func waits() async throws {
        let mock = MockTransport.answering { _ in .status(.noContent) }
        let client = APIClient.mock(mock)
        async let seen = mock.waitForRequests(2)
        for path in ["/a", "/b"] { try await client.send(Request<Void>.get(RequestPath(path))) }
        #expect(try await seen.map(\.path) == ["/a", "/b"])
        #expect(try await mock.waitForRequests(1).count == 2)
        let error = await #expect(throws: MockError.self) {
            try await mock.waitForRequests(3, timeout: .milliseconds(20))
        }
        let text = try #require(error).description
        #expect(text.contains("3 requests") && text.contains("there were 2") && text.contains("/b"))
        let task = Task { try await mock.waitForRequests(3) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    let mock = MockTransport { $0.onAny { _ in .status(204) } }

    func send(_ body: RequestBody) async throws -> RecordedRequest {
        let request = try HTTPRequest(.post, url: "https://mock.test/upload", body: body)
        _ = try await mock.send(request, in: ExchangeContext())
        return try #require(mock.requests.last)
    }

    @Test("A streamed body is read as a transport reads it")
    func stream() async throws {
        let chunks = AsyncStream<Data> { continuation in
            for text in ["a", "bc", "def"] { continuation.yield(Data(text.utf8)) }
            continuation.finish()
        }
        let call = try await send(.stream(length: 6) { RequestBody.Chunks(chunks) })
        #expect(call.text == "abcdef")
        #expect(call.bodyLength == 6)
    }

    @Test("A stream of another length than it promises fails as encoding", arguments: [2, 4] as [Int64])
    func wrongLength(length: Int64) async throws {
        let chunks = AsyncStream<Data> { continuation in
            continuation.yield(Data("abc".utf8))
            continuation.finish()
        }
        let error = await #expect(throws: NetworkError.self) {
            try await send(.stream(length: length) { RequestBody.Chunks(chunks) })
        }
        #expect(error?.reason == .encoding)
    }

    @Test("Files and ranges of files are read from disk")
    func files() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "mock-\(UUID().uuidString)").path()
        let url = URL(filePath: path)
        defer { try? FileManager.default.removeItem(at: url) }
        try Data("0123456789".utf8).write(to: url)
        #expect(try await send(.file(path)).text == "0123456789")
        let parts: [RequestBody.Part] = [.bytes(Data("<".utf8)), .file(path: path, offset: 3, length: 4)]
        #expect(try await send(.parts(parts)).text == "<3456")
        #expect(await failureReason { try await send(.parts([.file(path: path, offset: 3, length: 40)])) } == .encoding)
    }

    @Test("A missing file fails the call before it counts as sent")
    func missing() async throws {
        #expect(await failureReason { try await send(.file("/nowhere/at/all")) } == .invalidRequest)
        #expect(mock.requestCount == 0)
    }

    @Test("A large body is counted whole and kept up to a MiB")
    func large() async throws {
        let call = try await send(.bytes(Data(repeating: 7, count: 3 << 20)))
        #expect(call.bodyLength == 3 << 20)
        #expect(call.body.count == 1 << 20)
    }

    @Test("The last thousand requests are kept, and all are counted")
    func bounded() async throws {
        let context = ExchangeContext()
        for index in 0..<2500 {
            _ = try await mock.send(HTTPRequest(url: "https://mock.test/\(index)"), in: context)
        }
        #expect(mock.requestCount == 2500)
        #expect(mock.requests.map(\.path) == (1500..<2500).map { "/\($0)" })
    }
}
