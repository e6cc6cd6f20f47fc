// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore
@testable import CurlewRecording

@Suite(.timeLimit(.minutes(2)))
struct RecordedBodiesTests {
    /// A transport whose bodies arrive in chunks, and that reads the bodies of requests.
    private struct Streaming: Transport {
        let source: ChunkSource
        var type = "text/plain"

        func send(_ request: HTTPRequest, in context: ExchangeContext) async throws -> HTTPResponse {
            for try await _ in try request.body.chunks() {}
            return HTTPResponse(
                headers: [.contentType: type], body: ResponseBody(source, limit: .max, length: nil))
        }

        func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .anonymous }
    }

    private func client(_ recorder: FlightRecorder, _ transport: some Transport) -> APIClient {
        APIClient.testing(transport, baseURL: "https://a.test", pipeline: [.recording(recorder)])
    }

    @Test("A streamed body is copied while it is read, up to the limit, and pulled by its reader only")
    func streamed() async throws {
        let source = ChunkSource(["one ", "two ", "three"])
        let recorder = FlightRecorder(bodies: .upTo(6))
        let received = try await client(recorder, Streaming(source: source)).withResponse(to: .get("/")) { response in
            #expect(source.pulls == 0)
            var texts: [String] = []
            for try await chunk in response.body {
                texts.append(String(decoding: chunk, as: UTF8.self))
                #expect(source.pulls == texts.count)
            }
            return texts
        }
        #expect(received == ["one ", "two ", "three"])
        let entry = try #require(recorder.records.first?.entries.first)
        #expect(entry.response.content.text == "one tw…" && entry.response.content.size == 13)
        #expect(entry.response.content.comment == "Only the first 6 bytes of the body are recorded.")
    }

    @Test("A reader that stops cancels the transfer, and the bytes it read are recorded")
    func cancelled() async throws {
        let source = ChunkSource(["one ", "two ", "three"].map { Data($0.utf8) }, waitsAtEnd: true)
        let recorder = FlightRecorder(bodies: .upTo())
        try await client(recorder, Streaming(source: source)).withResponse(to: .get("/")) { response in
            for try await _ in response.body { break }
        }
        try await yieldUntil { recorder.records.first?.entries.first?.response.content.text != nil }
        #expect(source.wasCancelled)
        #expect(recorder.records.first?.entries.first?.response.content.text == "one ")
    }

    @Test("A body that breaks off is recorded with its error, which reaches the reader", arguments: [false, true])
    func broken(isSmall: Bool) async throws {
        let lost = NetworkError(
            .connectionLost(.requestMayHaveArrived), detail: "It closed.",
            response: isSmall ? NetworkError.Response(status: .ok, headers: ["A": "b"], body: Data("ha".utf8)) : nil)
        for bodies in [FlightRecorder.Bodies.none, .upTo()] {
            let recorder = FlightRecorder(bodies: bodies)
            let transport: any Transport =
                isSmall
                ? MockTransport.answering { _ in throw lost }
                : Streaming(source: ChunkSource(["half"], error: lost))
            let error = await client(recorder, transport).failure(Request<String>.get("/"))
            #expect(error?.reason == .connectionLost(.requestMayHaveArrived))
            let response = try #require(recorder.records.first?.entries.first?.response)
            #expect(response.error == "connectionLost requestMayHaveArrived: It closed." && response.status == 200)
            #expect(response.content.text == (isSmall || bodies.limit == 0 ? nil : "half"))
        }
    }

    @Test("A recorder of heads touches no body")
    func heads() async throws {
        let source = ChunkSource(["text"])
        let recorder = FlightRecorder()
        let text = try await client(recorder, Streaming(source: source)).send(Request<String>.get("/"))
        #expect(text == "text")
        #expect(recorder.records.first?.entries.first?.response.content.text == nil)
    }

    @Test("Bodies of requests are recorded from memory and from streams that can be created again")
    func requests() async throws {
        let recorder = FlightRecorder(bodies: .upTo(100))
        let client = client(recorder, Streaming(source: ChunkSource([String]())))
        func stream(_ replay: RequestBody.Replay) -> RequestBody {
            .stream(replay: replay) {
                RequestBody.Chunks(
                    AsyncStream {
                        $0.yield(Data("a=1&pin=2".utf8)); $0.finish()
                    })
            }
        }
        func text(_ body: RequestBody) async throws -> String? {
            let type: HTTPHeaders = [.contentType: "application/x-www-form-urlencoded"]
            let request = try HTTPRequest(.post, url: "https://a.test/", headers: type, body: body)
            _ = try await client.send(Request<HTTPResponse>(request))
            return recorder.records.last?.entries.first?.request.postData?.text
        }
        #expect(try await text(.bytes(Data("a=1&password=2".utf8))) == "a=1&password=REDACTED")
        #expect(try await text(stream(.always)) == "a=1&pin=REDACTED")
        #expect(try await text(stream(.never)) == nil)
    }

    @Test("An opaque body is recorded on request only")
    func opaque() async throws {
        for (bodies, isKept) in [(FlightRecorder.Bodies.upTo(), false), (.upTo(opaque: .kept), true)] {
            let recorder = FlightRecorder(bodies: bodies)
            let source = ChunkSource([Data([0, 255, 1])])
            _ = try await client(recorder, Streaming(source: source, type: "image/png")).send(Request<Data>.get("/"))
            let content = try #require(recorder.records.first?.entries.first).response.content
            #expect(content.text == (isKept ? "AP8B" : nil) && content.encoding == (isKept ? "base64" : nil))
            #expect((content.comment == nil) == isKept)
        }
    }
}
