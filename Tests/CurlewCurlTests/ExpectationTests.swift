// SPDX-License-Identifier: MIT

import Testing

/// `Expect: 100-continue`: the body leaves when the server wants it, and a refusal is the response, not a reason to
/// send the request again behind the caller's back.
@Suite(.timeLimit(.minutes(1)))
struct ExpectationTests {
    let transport = CurlTransport()

    /// What the server says before it has seen the body, and what came after the head.
    private func server(_ words: String, seen: Locked<[String]>, readsBody: Bool) throws -> RawServer {
        try RawServer { connection in
            while true {
                let head = try connection.readHead()
                seen.withLock { $0.append(head) }
                try connection.write(words)
                guard readsBody else { continue }
                try RawRequest.skipBody(connection, head)
                seen.withLock { $0.append("body") }
                try connection.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nagain")
            }
        }
    }

    private func send(
        _ method: HTTPMethod, _ server: RawServer, _ source: BodySource, in folder: TemporaryFolder, size: Int = 100_000
    ) async throws -> HTTPResponse {
        try await transport.exchange(
            method, server.url + "/", headers: ["Expect": "100-continue"], body: source.body(of: size, in: folder))
    }

    @Test(
        "A refused expectation is the response, whole, and no byte of the body leaves",
        arguments: [417, 401, 413], BodySource.allCases)
    func refused(status: Int, source: BodySource) async throws {
        let folder = try TemporaryFolder()
        for method: HTTPMethod in [.post, .put, .post] {
            let seen = Locked<[String]>([])
            let server = try server(
                "HTTP/1.1 \(status) Refused\r\nContent-Length: 2\r\n\r\nno", seen: seen, readsBody: false)
            let response = try await send(method, server, source, in: folder)
            #expect(response.status.code == status)
            #expect(try await response.text() == "no")
            #expect(seen.withLock { $0.count } == 1)
            #expect(seen.withLock { $0.first?.contains("Expect: 100-continue") } == true)
        }
    }

    @Test("The body follows the server's 100", arguments: [HTTPMethod.post, .put], BodySource.allCases)
    func permitted(method: HTTPMethod, source: BodySource) async throws {
        let folder = try TemporaryFolder()
        // On a busy machine another round may be needed.
        var isPrompt = false
        for _ in 0..<5 where !isPrompt {
            let seen = Locked<[String]>([])
            let server = try server("HTTP/1.1 100 Continue\r\n\r\n", seen: seen, readsBody: true)
            let start = ContinuousClock.now
            for _ in 1...3 { #expect(try await send(method, server, source, in: folder).text() == "again") }
            isPrompt = ContinuousClock.now - start < .seconds(1)
            #expect(seen.withLock { $0.filter { $0 == "body" }.count } == 3)
            #expect(server.connectionCount == 1)
        }
        #expect(isPrompt, "a call has waited for more than the server's 100")
    }

    @Test("A server that says nothing gets the body after a second")
    func silence() async throws {
        let folder = try TemporaryFolder()
        let seen = Locked<[String]>([])
        let server = try server("", seen: seen, readsBody: true)
        let start = ContinuousClock.now
        #expect(try await send(.post, server, .bytes, in: folder).text() == "again")
        #expect(ContinuousClock.now - start >= .seconds(1))
    }

    @Test("A call that is cancelled while it waits for the server's 100 ends at once")
    func cancelled() async throws {
        let folder = try TemporaryFolder()
        let (arrived, arrival) = AsyncStream<Void>.makeStream()
        let server = try RawServer { connection in
            _ = try connection.readHead()
            arrival.yield()
            _ = try? connection.read(1)
        }
        let task = Task { try await send(.post, server, .bytes, in: folder) }
        for await _ in arrived.prefix(1) {}
        task.cancel()
        let result = await outcome(task)
        #expect(result.reason == .cancelled)
    }
}
