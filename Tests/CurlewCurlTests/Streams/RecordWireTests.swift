// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewCurl
import CurlewFoundation
import CurlewHTTP
import CurlewStreams
import CurlewTesting
import TestServers
import Testing

@Suite("Records over sockets", .timeLimit(.minutes(2)))
struct RecordWireTests {
    private func client(_ server: MockServer) throws -> APIClient {
        APIClient(baseURL: try BaseURL(server.url), pipeline: [], transport: CurlTransport())
    }

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
            for try await row in try client(server).records(.get("/rows"), of: Row.self) { received.append(row) }
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
        for try await row in try client(server).records(request, of: Row.self) { received.append(row) }
        #expect(received == Self.rows)
        #expect(server.requests[0].headers[.transferEncoding] == "chunked")
    }

    @Test("A record is delivered while the response is still open; leaving the loop closes the connection")
    func openResponse() async throws {
        let server = try MockServer()
        server.enqueue(MockResponse.jsonLines(1...3).stalled(at: .afterBytes(4)))
        let client = try client(server)
        var received: [Int] = []
        for try await number in client.records(.get("/live"), of: Int.self) {
            received.append(number)
            if number == 2 { break }
        }
        #expect(received == [1, 2])
        #expect(await eventually { server.openConnections == 0 })
    }

    @Test("Cancelling the task closes the connection")
    func cancellation() async throws {
        let server = try MockServer()
        server.enqueue(MockResponse.jsonLines(1...3).stalled(at: .afterBytes(2)))
        let client = try client(server)
        let received = Locked(0)
        let task = Task {
            for try await number in client.records(.get("/live"), of: Int.self) { received.withLock { $0 = number } }
        }
        #expect(await eventually { received.withLock { $0 } == 1 })
        task.cancel()
        let error = await #expect(throws: NetworkError.self) { try await task.value }
        #expect(error?.isCancelled == true)
        #expect(await eventually { server.openConnections == 0 })
    }

    @Test("A connection without bytes is lost after the read timeout; the total timeout ends with the head")
    func timeouts() async throws {
        let server = try MockServer()
        server.enqueue(MockResponse.jsonLines(1...3).stalled(at: .afterBytes(2)))
        var options = RecordStreamOptions()
        options.readTimeout = .milliseconds(400)
        let request = Request<HTTPResponse>(.get, "/live").options { $0.timeouts.total = .milliseconds(200) }
        var numbers = try client(server).records(request, of: Int.self, options: options).makeAsyncIterator()
        #expect(try await numbers.next() == 1)
        let error = await #expect(throws: NetworkError.self) { try await numbers.next() }
        #expect(error?.reason == .timedOut(.idle))
        #expect(await eventually { server.openConnections == 0 })
    }

    @Test("A response that breaks off has the records before")
    func truncation() async throws {
        let server = try MockServer()
        server.enqueue(MockResponse.jsonLines(1...3).truncated(after: 5))
        var numbers = try client(server).records(.get("/live"), of: Int.self).makeAsyncIterator()
        #expect(try await numbers.next() == 1)
        #expect(try await numbers.next() == 2)
        let error = await #expect(throws: NetworkError.self) { try await numbers.next() }
        #expect(error?.reason == .connectionLost(.requestMayHaveArrived))
    }

    @Test("The server waits while the reader does not read")
    func backPressure() async throws {
        let server = try MockServer()
        server.on(.get, "/rows") { _ in .jsonLines((0..<20_000).lazy.map { Row(id: $0, text: Self.filler) }) }
        let client = try client(server)
        var rows = client.records(.get("/rows"), of: Row.self).makeAsyncIterator()
        #expect(try await rows.next()?.id == 0)
        var sent = -1
        // The server has stopped when the number no longer grows.
        #expect(
            await eventually {
                defer { sent = server.sentBytes }
                return server.sentBytes == sent && sent > 0
            })
        #expect(server.sentBytes < 20_000 * Self.filler.utf8.count)
        var count = 1
        while try await rows.next() != nil { count += 1 }
        #expect(count == 20_000)
    }

    private static let filler = String(repeating: "x", count: 1000)

    @Test("Lines and bytes of a response")
    func linesAndBytes() async throws {
        let server = try MockServer()
        let text = (0..<3000).map { "line \($0) é\($0 % 2 == 0 ? "\r\n" : "\n")" }.joined() + "end"
        server.on(.get, "/text") { _ in .text(text) }
        let client = try client(server)
        let lines = try await client.withResponse(to: Request<HTTPResponse>(.get, "/text")) { response in
            var lines: [String] = []
            for try await line in response.body.lines { lines.append(line) }
            return lines
        }
        #expect(lines == (0..<3000).map { "line \($0) é" } + ["end"])
        let bytes = try await client.withResponse(to: Request<HTTPResponse>(.get, "/text")) { response in
            var bytes: [UInt8] = []
            for try await byte in response.body.bytes { bytes.append(byte) }
            return bytes
        }
        #expect(bytes == Array(text.utf8))
    }
}
