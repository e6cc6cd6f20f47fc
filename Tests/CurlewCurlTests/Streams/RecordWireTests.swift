// SPDX-License-Identifier: MIT

import CurlewStreams
import Testing

@Suite(.timeLimit(.minutes(2)))
struct RecordWireTests {
    private struct Row: Codable, Sendable, Equatable {
        var id: Int
        var text: String
    }

    private static let rows = (0..<2000).map { Row(id: $0, text: String(repeating: "é🦜", count: $0 % 50)) }

    @Test("Records arrive in order, however the content is divided")
    func records() async throws {
        let server = try MockServer()
        let response = MockResponse.jsonLines(Self.rows)
        server.enqueue(response, response.dripping(bytesPerChunk: 4099, every: .zero))
        for _ in 0..<2 {
            var received: [Row] = []
            for try await row in APIClient.curl(server.url).records(.get("/rows"), of: Row.self) {
                received.append(row)
            }
            #expect(received == Self.rows)
        }
    }

    @Test("Records are sent and come back")
    func roundTrip() async throws {
        let server = try MockServer()
        server.on(.post, "/echo") { request in
            .data(request.body, type: request.headers[.contentType].flatMap { MediaType($0) } ?? .json)
        }
        let rows = AsyncStream<Row> { source in
            for row in Self.rows { source.yield(row) }
            source.finish()
        }
        let request = Request<HTTPResponse>(.post, "/echo", body: .jsonLines(rows))
        var received: [Row] = []
        for try await row in APIClient.curl(server.url).records(request, of: Row.self) { received.append(row) }
        #expect(received == Self.rows)
        #expect(server.requests[0].headers[.transferEncoding] == "chunked")
    }

    @Test("A connection without bytes is lost after the read timeout; the head ends the total one")
    func timeouts() async throws {
        let server = try MockServer.answering(MockResponse.jsonLines(1...3).stalled(at: .afterBytes(2)))
        var options = RecordStreamOptions()
        options.readTimeout = .milliseconds(400)
        let request = Request<HTTPResponse>(.get, "/live").options { $0.timeouts.total = .milliseconds(200) }
        var numbers = APIClient.curl(server.url).records(request, of: Int.self, options: options).makeAsyncIterator()
        #expect(try await numbers.next() == 1)
        #expect(await failureReason { try await numbers.next() } == .timedOut(.idle))
        #expect(await eventually { server.openConnections == 0 })
    }

    private static let filler = String(repeating: "x", count: 1000)
}
