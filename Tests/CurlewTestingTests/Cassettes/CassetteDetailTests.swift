// SPDX-License-Identifier: MIT

import CurlewRecording
import Testing

@testable import CurlewCore
@testable import CurlewTesting

/// The parts of an exchange that HAR has no field for: the sizes of chunks, trailers, and interim responses.
@Suite(.timeLimit(.minutes(2)))
struct CassetteDetailTests {
    private static let call = Request<HTTPResponse>(.get, "/x")

    private static func read(_ response: HTTPResponse) async throws -> ([String], HTTPHeaders) {
        var chunks: [String] = []
        for try await chunk in response.body { chunks.append(String(decoding: chunk, as: UTF8.self)) }
        return (chunks, response.body.trailers)
    }

    @Test(
        "Sizes of chunks that make no sense are ignored",
        arguments: ["[1]", "[-1,9]", "[9223372036854775807,9223372036854775807]", "[0,8]", "[]", "[4,4,0]"])
    func oddChunks(sizes: String) async throws {
        let folder = try CassetteFolder()
        try folder.write(
            #"""
            {"log":{"entries":[{"startedDateTime":"2026-01-02T03:04:05Z",
            "request":{"method":"GET","url":"https://api.test/x"},
            "response":{"status":200,"content":{"mimeType":"application/x-ndjson","text":"12345678","_chunks":\#(sizes)}}}]}}
            """#)
        let (read, _) = try await client(try Cassette(folder.path(), mode: .replay)).withResponse(to: Self.call) {
            try await Self.read($0)
        }
        #expect(read.joined() == "12345678")
    }

    @Test("Trailers are recorded without their secrets, and replayed after the body", arguments: [true, false])
    func trailers(isStreamed: Bool) async throws {
        let folder = try CassetteFolder()
        let trailers: HTTPHeaders = ["Digest": "sha-256=abc", "X-Session-Token": "hunter2"]
        let transport = ClosureTransport { _, _ in
            let data = Data("hello".utf8)
            let body = ResponseBody(data, limit: 100, trailers: trailers)
            return HTTPResponse(
                headers: [.contentType: "text/plain"],
                body: isStreamed ? ResponseBody(TrailingSource(data, trailers), limit: 100, length: nil) : body)
        }
        let cassette = try Cassette(folder.path(), mode: .recordNew, recording: transport)
        let (_, first) = try await client(cassette).withResponse(to: Self.call) { try await Self.read($0) }
        #expect(first == trailers)
        try await cassette.finish()
        #expect(try folder.text().contains(#""_trailers""#) && !folder.text().contains("hunter2"))
        let (chunks, again) = try await client(try Cassette(folder.path(), mode: .replay)).withResponse(to: Self.call) {
            try await Self.read($0)
        }
        #expect(chunks == ["hello"] && again["digest"] == "sha-256=abc" && again["x-session-token"] == "REDACTED")
    }

    @Test("Interim responses are recorded and replayed as events of the call")
    func interim() async throws {
        let folder = try CassetteFolder()
        let transport = ClosureTransport { _, context in
            context.record(.interim(103, [.link: "</a.css>; rel=preload", "X-Auth-Token": "hunter2"]))
            context.record(.interim(102, [:]))
            return .text("hello")
        }
        let cassette = try Cassette(folder.path(), mode: .recordNew, recording: transport)
        _ = try await client(cassette).send(Self.call)
        try await cassette.finish()
        #expect(try folder.text().contains(#""_interim""#) && !folder.text().contains("hunter2"))
        let seen = Locked<[String]>([])
        let configuration = APIClient.Configuration(observers: [InterimObserver(seen: seen)])
        _ = try await client(try Cassette(folder.path(), mode: .replay), configuration: configuration).send(Self.call)
        #expect(seen.withLock { $0 } == ["103 </a.css>; rel=preload REDACTED", "102  "])
    }
}

private struct InterimObserver: RequestObserver {
    let seen: Locked<[String]>

    func record(_ event: ExchangeEvent, in context: ExchangeContext) {
        guard case .interim(let status, let headers) = event else { return }
        seen.withLock { $0.append("\(status.code) \(headers[.link] ?? "") \(headers["X-Auth-Token"] ?? "")") }
    }
}

/// A body whose trailers are known at its end.
private final class TrailingSource: ResponseBodySource {
    private let chunks: Locked<[Data]>
    private let fields: HTTPHeaders

    init(_ data: Data, _ fields: HTTPHeaders) {
        chunks = Locked([data])
        self.fields = fields
    }

    func next() async throws -> Data? { chunks.withLock { $0.isEmpty ? nil : $0.removeFirst() } }

    func cancel() {}

    var trailers: HTTPHeaders { fields }
}
