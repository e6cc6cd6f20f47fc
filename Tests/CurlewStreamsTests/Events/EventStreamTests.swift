// SPDX-License-Identifier: MIT

import CurlewStreams
import Testing

@Suite(.timeLimit(.minutes(1)))
struct EventStreamTests {
    @Test("A stream that is cut 100 times at random bytes delivers each event exactly once")
    func cuts() async throws {
        let seed = UInt64.random(in: 0 ... .max)
        let random = Locked(SeededGenerator(seed: seed))
        let count = 1000
        let mock = MockTransport()
        mock.onAny { call in
            let last = try #require(Int(call.request.headers["Last-Event-ID"] ?? "0"))
            if last == count { return .status(.noContent) }
            return random.withLock { random in
                var document = Data()
                for number in last + 1...count {
                    let lineEnd = ["\n", "\r", "\r\n"].randomElement(using: &random) ?? "\n"
                    let lines = [
                        "id: \(number)", "data: the event", "data:\(number) 🦜", ": a comment", "retry: 10", "",
                    ]
                    document += Data(lines.map { $0 + lineEnd }.joined().utf8)
                }
                guard mock.requestCount <= 100 else { return .events(document, failing: nil, random: &random) }
                let cut = document.prefix(Int.random(in: 0...300, using: &random))
                let error = Bool.random(using: &random) ? NetworkError(.connectionLost(.requestMayHaveArrived)) : nil
                return .events(Data(cut), failing: error, random: &random)
            }
        }
        let stream = APIClient.events(mock).events(.get("/events"))
        var expected = 1
        for try await event in stream {
            guard event.data == "the event\n\(expected) 🦜", event.id == "\(expected)", event.retry == .milliseconds(10)
            else {
                Issue.record("seed \(seed): \(event) instead of \(expected)")
                return
            }
            expected += 1
        }
        #expect(expected == count + 1, "seed \(seed)")
        #expect(mock.requestCount == 102, "seed \(seed)")
        #expect(stream.lastEventID == "\(count)")
    }

    @Test("The request accepts event streams only, with the last event ID if a field can contain it")
    func request() async throws {
        for (id, sent) in [("", nil), ("a 7", "a 7"), ("\u{1}", nil), (String(repeating: "a", count: 8193), nil)] {
            let mock = MockTransport.sequence([])
            var options = EventStream.Options()
            options.lastEventID = id
            #expect(try await APIClient.events(mock).events(.get("/events"), options: options).collect().isEmpty)
            let headers = try #require(mock.requests.first).request.headers
            #expect(headers[.accept] == "text/event-stream")
            #expect(headers[.cacheControl] == "no-cache")
            #expect(headers["Last-Event-ID"] == sent)
        }
    }

    @Test("Status 204 ends the stream for good")
    func noContent() async throws {
        let mock = MockTransport.sequence([.events("data: a\n\n"), .status(.noContent), .events("data: b\n\n")])
        let stream = APIClient.events(mock).events(.get("/events"))
        #expect(stream.state == .idle)
        #expect(try await stream.collect().map(\.data) == ["a"])
        #expect(stream.state == .closed)
        #expect(mock.requestCount == 2)
    }

    @Test(
        "The Content-Type must be that of an event stream",
        arguments: ["text/event-stream; charset=utf-8", "Text/Event-Stream", "text/html", nil])
    func contentType(_ type: String?) async throws {
        let mock = MockTransport.sequence([.events("data: a\n\n", type: type)])
        let stream = APIClient.events(mock).events(.get("/events"))
        if type?.lowercased().hasPrefix("text/event-stream") == true {
            #expect(try await stream.collect().map(\.data) == ["a"])
        } else {
            let error = await #expect(throws: NetworkError.self) { try await stream.collect() }
            #expect(error?.reason == .badResponse)
            #expect(error?.detail.contains("Content-Type") == true)
            #expect(mock.requestCount == 1)
        }
    }

    @Test(
        "Statuses 408, 429 and 5xx connect again, other statuses end the stream",
        arguments: [
            400, 401, 404, 408, 410, 429, 500, 501, 503,
        ])
    func statuses(_ code: Int) async throws {
        let mock = MockTransport.sequence([.status(HTTPStatus(code)), .events("data: a\n\n")])
        let stream = APIClient.events(mock).events(.get("/events"))
        if code == 408 || code == 429 || code >= 500 {
            #expect(try await stream.collect().map(\.data) == ["a"])
        } else {
            await #expect(throws: NetworkError(statusCode: code)) { try await stream.collect() }
            #expect(mock.requestCount == 1)
        }
    }

    @Test("After maximumFailures the stream throws the last error; an event resets the count")
    func failures() async throws {
        let mock = MockTransport.sequence([
            .status(.serviceUnavailable), .events(":"), .events("data: a\n\n"), .status(.serviceUnavailable),
            .events(""), .status(.badGateway), .events("data: a\n\n"),
        ])
        var options = EventStream.Options()
        options.maximumFailures = 2
        let stream = APIClient.events(mock).events(.get("/events"), options: options)
        await #expect(throws: NetworkError(statusCode: 502)) { try await stream.collect() }
        #expect(mock.requestCount == 6)
    }

    @Test("A POST does not connect again and ends at its marker, after which the connection is closed")
    func marker() async throws {
        struct Part: Codable, Equatable { var text: String }
        let fed = FedEvents()
        fed.send("data: {\"text\":\"a\"}\n\n: ping\n\ndata: {\"text\":\"b\"}\n\ndata: [DONE]\n\ndata: no\n\n")
        let mock = MockTransport.sequence([fed.response])
        var options = EventStream.Options()
        options.endMarker = "[DONE]"
        let parts = APIClient.events(mock).events(.post("/chat", json: ["q": "x"]), options: options)
            .decoding(Part.self)
        var received: [Part] = []
        for try await part in parts { received.append(part) }
        #expect(received == [Part(text: "a"), Part(text: "b")])
        #expect(parts.events.state == .closed)
        try await yieldUntil { fed.isClosed }
        let call = try #require(mock.requests.first)
        #expect(call.method == .post && call.text == #"{"q":"x"}"#)
        #expect(mock.requestCount == 1)
    }

    @Test("A POST that ends without its marker throws, and without a marker it ends")
    func missingMarker() async throws {
        let mock = MockTransport.answering { _ in .events("data: a\n\n") }
        let client = APIClient.events(mock)
        #expect(try await client.events(.post("/chat", json: [1])).collect().map(\.data) == ["a"])
        var options = EventStream.Options()
        options.endMarker = "[DONE]"
        let stream = client.events(.post("/chat", json: [1]), options: options)
        #expect(await failureReason { try await stream.collect() } == .connectionLost(.requestMayHaveArrived))
        #expect(mock.requestCount == 2)
    }

    @Test("Only events with the name are decoded, and invalid data ends the stream with an error")
    func decoding() async throws {
        let fed = FedEvents()
        fed.send("data: x\n\nevent: n\ndata: 1\n\nevent: n\ndata: [2\n\nevent: n\ndata: 3\n\n")
        let mock = MockTransport.sequence([fed.response])
        var numbers = APIClient.events(mock).events(.get("/n")).decoding(Int.self, named: "n").makeAsyncIterator()
        #expect(try await numbers.next() == 1)
        let error = await #expect(throws: NetworkError.self) { try await numbers.next() }
        #expect(error?.reason == .decoding)
        #expect(error?.request?.url.hasSuffix("/n") == true)
        #expect(error?.response?.body == Data("[2".utf8) && error?.response?.status == .ok)
        #expect(try await numbers.next() == nil)
        try await yieldUntil { fed.isClosed }
    }

    @Test("An event of another shape can be decoded from the error, with the codecs of the call")
    func errorInTheStream() async throws {
        struct Part: Decodable { let choices: [String] }
        struct Failure: Decodable, Equatable { let errorMessage: String }
        let mock = MockTransport.sequence([.events("data: {\"error_message\":\"overloaded\",\"token\":\"t0p\"}\n\n")])
        let client = APIClient.mock(mock, configuration: APIClient.Configuration(codecs: .snakeCase))
        var parts = client.events(.post("/chat")).decoding(Part.self).makeAsyncIterator()
        let thrown = await #expect(throws: NetworkError.self) { try await parts.next() }
        let error = try #require(thrown)
        #expect(error.body(as: Failure.self) == Failure(errorMessage: "overloaded"))
        #expect(error.detail.hasPrefix("The event is not Part. No member \"choices\" at $."))
        #expect(error.description.contains("body      {\"error_message\":\"overloaded\",\"token\":"))
        #expect(error.description.contains("body above") && !error.description.contains("t0p"))
    }

    @Test("The advice of a decoding error names the body only if the text shows it", arguments: [nil, "", "{}"])
    func advice(body: String?) throws {
        let cause = #expect(throws: DecodingError.self) { try JSONDecoder().decode([Int].self, from: Data("{}".utf8)) }
        var error = try NetworkError(#require(cause))
        error.response = body.map { NetworkError.Response(status: .ok, body: Data($0.utf8)) }
        #expect(error.description.contains("Compare the model with the"))
        #expect(error.description.contains("body above") == (body == "{}"))
    }

    @Test("Comments are no events of the stream")
    func comments() async throws {
        let mock = MockTransport.sequence([.events(": c\ndata: a\n\n")])
        #expect(try await APIClient.events(mock).events(.get("/")).first { _ in true } == ServerEvent(data: "a"))
    }

    @Test("One limit covers an event of several lines and a line of any field, and errors name it")
    func limits() async throws {
        var options = EventStream.Options()
        options.maximumEventSize = 10
        for (text, what) in [("data: 12345\ndata: 67890", "data of an event"), (": 1234567890123456", "line")] {
            let mock = MockTransport.answering { _ in .events("data: 1234567890\n\n\(text)\n\n") }
            var stream = APIClient.events(mock).events(.get("/"), options: options).makeAsyncIterator()
            #expect(try await stream.next()?.data == "1234567890")
            let error = await failure { () async throws(NetworkError) in _ = try await stream.next() }
            #expect(error?.reason == .limitExceeded(.responseBody) && error?.detail.contains(what) == true)
            #expect(error?.hint?.contains("maximumEventSize") == true)
        }
    }

    @Test("Nothing is read from the body before an event is requested")
    func backPressure() async throws {
        let pulls = Locked(0)
        let body = AsyncStream<Data> {
            pulls.withLock { $0 += 1 }
            return Data("data: a\n\n".utf8)
        }
        let mock = MockTransport.sequence([
            HTTPResponse(headers: [.contentType: "text/event-stream"], body: ResponseBody(body))
        ])
        var events = APIClient.events(mock).events(.get("/")).makeAsyncIterator()
        for number in 1...50 {
            #expect(try await events.next()?.data == "a")
            for _ in 0..<20 { await Task.yield() }
            #expect(pulls.withLock { $0 } == number)
        }
    }

    @Test("A second iteration at the same time throws; a later one continues after the last event")
    func iterations() async throws {
        let mock = MockTransport.sequence([.events("id: 5\ndata: a\n\ndata: b\n\n"), .events("data: c\n\n")])
        let stream = APIClient.events(mock).events(.get("/"))
        do {
            var first = stream.makeAsyncIterator()
            #expect(try await first.next()?.data == "a")
            var second = stream.makeAsyncIterator()
            await #expect(throws: NetworkError(.invalidRequest)) { try await second.next() }
            #expect(try await first.next()?.data == "b")
        }
        #expect(try await stream.collect().map(\.data) == ["c"])
        #expect(mock.requests.map { $0.request.headers["Last-Event-ID"] } == [nil, "5", "5"])
    }
}
