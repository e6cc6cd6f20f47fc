// SPDX-License-Identifier: MIT

import CurlewStreams
import Testing

@Suite(.timeLimit(.minutes(1)))
struct RecordStreamTests {
    private static let people = [Person(id: 1, name: "Ann"), Person(id: 2, name: "Bo\n🦜"), Person(id: 3, name: "")]

    private func client(_ response: @escaping @Sendable () -> HTTPResponse) -> (APIClient, MockTransport) {
        let mock = MockTransport.answering { _ in response() }
        return (.mock(mock), mock)
    }

    private func options(_ change: (inout RecordStreamOptions) -> Void) -> RecordStreamOptions {
        var options = RecordStreamOptions()
        change(&options)
        return options
    }

    @Test("Records are decoded, however the body is divided")
    func everyDivision() async throws {
        let whole = HTTPResponse.jsonLines(Self.people)
        let bytes = try await whole.data()
        #expect(whole.mediaType == .jsonLines)
        for cut in 0...bytes.count {
            let (client, _) = client {
                .pieces([bytes.prefix(cut), bytes.dropFirst(cut)], type: whole.mediaType ?? .json)
            }
            #expect(try await client.records(.get("/people"), of: Person.self).collect() == Self.people)
        }
    }

    @Test(
        "Records are read with each media type of JSON Lines",
        arguments: [
            "application/jsonl", "application/x-ndjson", "application/ndjson; charset=utf-8", "Application/JSONL",
            "application/stream+json",
        ])
    func contentTypes(_ type: String) async throws {
        let (client, _) = client { .answer(.ok, "1\n2\n", type: type) }
        #expect(try await client.records(.get("/numbers"), of: Int.self).collect() == [1, 2])
    }

    @Test(
        "Another Content-Type is an error, unless it is not checked",
        arguments: ["application/json", "application/json-seq", "x", nil])
    func wrongContentType(_ type: String?) async throws {
        let (client, _) = client {
            HTTPResponse(headers: type.map { [.contentType: $0] } ?? [:], body: ResponseBody(Data("1\n2".utf8)))
        }
        let error = await #expect(throws: NetworkError.self) {
            try await client.records(.get("/numbers"), of: Int.self).collect()
        }
        #expect(error?.reason == .badResponse)
        #expect(error?.detail.contains(type ?? "missing") == true)
        #expect(error?.hint?.contains("RecordStreamOptions.checksContentType") == true)
        #expect(error?.request != nil)
        let lines = options { $0.checksContentType = false }
        #expect(try await client.records(.get("/numbers"), of: Int.self, options: lines).collect() == [1, 2])
    }

    @Test("The request names the media types, has any method and body, and is sent by each iteration")
    func request() async throws {
        let (client, mock) = client { .jsonLines([1]) }
        let stream = client.records(.post("/search", json: ["term": "a"]), of: Int.self)
        #expect(mock.requestCount == 0)
        #expect(try await stream.collect() == [1])
        #expect(try await stream.collect() == [1])
        #expect(mock.requestCount == 2)
        let call = try #require(mock.requests.first)
        #expect(call.method == .post && call.body == Data(#"{"term":"a"}"#.utf8))
        #expect(call.request.headers[.accept] == "application/jsonl, application/x-ndjson")
        let own = Request<HTTPResponse>(.get, "/search", headers: [.accept: "text/plain"])
        #expect(try await client.records(own, of: Int.self).collect() == [1])
        #expect(mock.requests.last?.request.headers[.accept] == "text/plain")
    }

    @Test("Status 204 has no records, another failure is thrown")
    func statuses() async throws {
        let (empty, _) = client { .status(.noContent) }
        #expect(try await empty.records(.get("/numbers"), of: Int.self).collect() == [])
        let (broken, _) = client { .status(.notFound) }
        await #expect(throws: NetworkError(statusCode: 404)) {
            try await broken.records(.get("/numbers"), of: Int.self).collect()
        }
    }

    @Test("A bad record is an error with its line, request and bytes, and ends the iteration")
    func badRecord() async throws {
        let (client, _) = client {
            .pieces(["{\"id\":1,\"name\":\"Ann\"}\n\n{\"id\":\"x\"}\n", "{}"], type: .jsonLines)
        }
        var people = client.records(PeopleAPI.list, of: Person.self).makeAsyncIterator()
        #expect(try await people.next() == .ann)
        let error = await #expect(throws: NetworkError.self) { try await people.next() }
        #expect(error?.reason == .decoding)
        #expect(error?.detail.hasPrefix("Line 3 of the response is not Person. Expected Int at $.id") == true)
        #expect(error?.routeName == "PeopleAPI" && error?.request != nil)
        #expect(error?.response?.body == Data(#"{"id":"x"}"#.utf8) && error?.response?.status == .ok)
        #expect(error?.underlying is DecodingError)
        #expect(try await people.next() == nil)
    }

    @Test("Bad records are skipped and counted by choice")
    func skipping() async throws {
        let (client, _) = client { .pieces(["1\nx\n2\n[]", "\n", "3\nnul"], type: .jsonLines) }
        let stream = client.records(.get("/numbers"), of: Int.self, options: options { $0.skipsBadRecords = true })
        #expect(try await stream.collect() == [1, 2, 3])
        #expect(stream.skippedRecords == 3)
    }

    @Test("A record that is too large ends the stream, also if bad records are skipped")
    func limit() async throws {
        let source = ChunkSource(["1\n12", "34", "56789\n"])
        let (client, _) = client { .reading(source) }
        let small = options {
            $0.maximumRecordSize = 5
            $0.skipsBadRecords = true
        }
        var numbers = client.records(.get("/numbers"), of: Int.self, options: small).makeAsyncIterator()
        #expect(try await numbers.next() == 1)
        let error = await #expect(throws: NetworkError.self) { try await numbers.next() }
        #expect(error?.reason == .limitExceeded(.responseBody))
        #expect(error?.detail == "Line 2 of the response has more than 5 bytes.")
        #expect(source.wasCancelled)
    }

    @Test("A body larger than Limits.responseBody has all its records")
    func longBody() async throws {
        let (client, _) = client { .jsonLines(1...5000) }
        let request = Request<HTTPResponse>(.get, "/numbers").options { $0.limits.responseBody = 100 }
        #expect(try await client.records(request, of: Int.self).collect().count == 5000)
    }

    @Test("A lost connection is an error after the records before it")
    func lostConnection() async throws {
        let source = ChunkSource(["1\n2"], error: NetworkError(.connectionLost(.requestMayHaveArrived)))
        let (client, _) = client { .reading(source) }
        var numbers = client.records(.get("/numbers"), of: Int.self).makeAsyncIterator()
        #expect(try await numbers.next() == 1)
        let error = await #expect(throws: NetworkError.self) { try await numbers.next() }
        #expect(error?.reason == .connectionLost(.requestMayHaveArrived) && error?.request != nil)
    }

    @Test("A chunk is requested only when the records before it were read")
    func backPressure() async throws {
        let source = ChunkSource(["1\n2\n", "3\n", "4\n"])
        let (client, _) = client { .reading(source) }
        var numbers = client.records(.get("/numbers"), of: Int.self).makeAsyncIterator()
        var pulls: [Int] = []
        while try await numbers.next() != nil { pulls.append(source.pulls) }
        #expect(pulls == [1, 1, 2, 3])
    }

    @Test("A record arrives before the next one is sent")
    func liveRecords() async throws {
        let fed = FedEvents()
        let (client, _) = client { fed.response }
        let stream = client.records(.get("/live"), of: [Int].self, options: options { $0.checksContentType = false })
        var values = stream.makeAsyncIterator()
        for number in 0..<5 {
            fed.send("[\(number)")
            fed.send("]\n")
            #expect(try await values.next() == [number])
        }
        fed.finish()
        #expect(try await values.next() == nil)
        #expect(try await values.next() == nil)
    }

    @Test("Cancelling the task closes the connection and throws .cancelled")
    func cancellation() async throws {
        let fed = FedEvents()
        let (client, _) = client { fed.response }
        let hasBegun = Locked(false)
        let stream = client.records(.get("/live"), of: Int.self, options: options { $0.checksContentType = false })
        let task = Task {
            for try await _ in stream { hasBegun.withLock { $0 = true } }
        }
        fed.send("1\n")
        try await yieldUntil { hasBegun.withLock { $0 } }
        task.cancel()
        let error = await #expect(throws: NetworkError.self) { try await task.value }
        #expect(error?.isCancelled == true)
        #expect(fed.isClosed)
    }

    @Test("Leaving the loop closes the connection")
    func leaving() async throws {
        let fed = FedEvents()
        let (client, _) = client { fed.response }
        fed.send("1\n2\n")
        let stream = client.records(.get("/live"), of: Int.self, options: options { $0.checksContentType = false })
        for try await number in stream {
            #expect(number == 1)
            break
        }
        #expect(fed.isClosed)
    }

    @Test("A loop on the main actor decodes on another thread")
    @MainActor
    func threads() async throws {
        let mock = MockTransport.answering { _ in .pieces(["1\n2\n", "3"], type: .jsonLines) }
        let codecs = Codecs(primary: ThreadCodec())
        let client = APIClient.mock(mock, configuration: .init(codecs: codecs))
        var areMain: [Bool] = []
        for try await isMain in client.records(.get("/rows"), of: Bool.self) { areMain.append(isMain) }
        #expect(areMain == [false, false, false])
    }

    @Test("The client's codec for JSON decodes the records, from bytes that begin at index zero")
    func codecs() async throws {
        struct Row: Decodable, Equatable { let createdAt: Int }
        let rows = "{\"created_at\":1}\n{\"created_at\":2}\n"
        let mock = MockTransport.answering { _ in .text(rows, type: .jsonLines) }
        let snake = APIClient.mock(mock, configuration: .init(codecs: .snakeCase))
        #expect(try await snake.records(.get("/rows"), of: Row.self).collect().map(\.createdAt) == [1, 2])
        let own = APIClient.mock(mock, configuration: .init(codecs: Codecs(primary: FirstByte())))
        #expect(try await own.records(.get("/rows"), of: Int.self).collect() == [0x7B, 0x7B])
    }
}

/// A codec that decodes whether it runs on the main thread.
private struct ThreadCodec: ContentCodec {
    let mediaType = MediaType.json

    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        guard let value = Thread.isMainThread as? Value else { throw NetworkError(.decoding) }
        return value
    }

    func encode<Value: Encodable>(_ value: Value) throws -> Data { Data() }
}

/// A codec that decodes the first byte as a number, and reads it at index zero.
private struct FirstByte: ContentCodec {
    let mediaType = MediaType.json

    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        guard data.startIndex == 0, let value = Int(data[0]) as? Value else {
            throw NetworkError(.decoding, detail: "The bytes begin at \(data.startIndex).")
        }
        return value
    }

    func encode<Value: Encodable>(_ value: Value) throws -> Data { Data() }
}

extension RecordStream {
    func collect() async throws -> [Element] {
        var elements: [Element] = []
        for try await element in self { elements.append(element) }
        return elements
    }
}

extension HTTPResponse {
    fileprivate static func reading(_ source: ChunkSource) -> HTTPResponse {
        HTTPResponse(headers: [.contentType: "application/jsonl"], body: ResponseBody(source, limit: .max, length: nil))
    }
}
