// SPDX-License-Identifier: MIT

import CurlewURLSession
import TestServers
import Testing

/// How exchanges end, beside what the conformance cases prove.
@Suite(.timeLimit(.minutes(1)))
struct EndingTests {
    private let transport = URLSessionTransport()

    @Test("An unread body is dropped with its last copy")
    func abandoned() async throws {
        let server = try MockServer.answering(.generated(bytes: 1_000_000).stalled(at: .afterBytes(100_000)))
        var response: HTTPResponse? = try await transport.exchange(.get, server.url + "/") { $0.streaming = true }
        #expect(response?.status == .ok)
        #expect(transport.snapshot.active == 1)
        response = nil
        #expect(await eventually { transport.snapshot.active == 0 })
    }

    @Test("A body that stalls ends with an error that has its head")
    func stalledBody() async throws {
        // Apple's systems withhold the head of a type that they determine from the body.
        let body = MockResponse.generated(bytes: 1000).with(headers: ["Content-Type": "application/json"])
        let server = try MockServer.answering(body.stalled(at: .afterBytes(10)))
        let error = await transport.failure(.get, server.url + "/", timeouts: Timeouts(idle: .milliseconds(60)))
        #expect(error?.reason == .timedOut(.idle) && error?.response?.status == .ok)
        #expect(await eventually { transport.snapshot.active == 0 })
    }

    @Test("The attempt's deadline ends an exchange, also while a body is produced")
    func attempt() async throws {
        let (stream, continuation) = AsyncStream<Data>.makeStream()
        defer { continuation.finish() }
        let server = try MockServer.always(.text("ok"))
        let request = try HTTPRequest(
            .post, url: server.url + "/", body: .stream { RequestBody.Chunks(stream) })
        var context = ExchangeContext()
        context.attemptDeadline = SystemTime.Deadline(.milliseconds(50), after: context.time.now)
        await #expect { try await transport.send(request, in: context) } throws: {
            ($0 as? NetworkError)?.reason == .timedOut(.attempt)
        }
    }
}
