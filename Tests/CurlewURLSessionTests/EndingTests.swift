// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import CurlewTesting
import CurlewURLSession
import Foundation
import TestServers
import Testing

/// Cancellation, deadlines, failures and shutdown.
@Suite(.timeLimit(.minutes(1)))
struct EndingTests {
    private let transport = URLSessionTransport()

    @Test("cancelling ends a call in the middle of a body")
    func cancelInBody() async throws {
        let server = try MockServer()
        server.enqueue(.generated(bytes: 100_000).stalled(at: .afterBytes(80_000)))
        let response = try await transport.exchange(.get, server.url + "/") { $0.streaming = true }
        let task = Task { try await response.data() }
        await Task.yield()
        task.cancel()
        #expect(await reason(of: task) == .cancelled)
        #expect(await eventually { transport.snapshot.active == 0 })
    }

    @Test("and before it begins, and while its body is produced")
    func cancelEarly() async throws {
        let server = try MockServer()
        let early = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await transport.exchange(.get, server.url + "/")
        }
        #expect(await reason(of: early) == .cancelled)
        let (stream, continuation) = AsyncStream<Data>.makeStream()
        continuation.yield(Data("first".utf8))
        let body = RequestBody.stream { RequestBody.Chunks(stream) }
        let producing = Task { try await transport.exchange(.post, server.url + "/", body: body) }
        #expect(await eventually { transport.snapshot.active == 1 })
        producing.cancel()
        #expect(await reason(of: producing) == .cancelled)
        continuation.finish()
        #expect(await eventually { transport.snapshot.active == 0 })
        #expect(server.requestCount == 0)
    }

    @Test("an unread body is dropped with its last copy")
    func abandoned() async throws {
        let server = try MockServer()
        server.enqueue(.generated(bytes: 1_000_000).stalled(at: .afterBytes(100_000)))
        var response: HTTPResponse? = try await transport.exchange(.get, server.url + "/") { $0.streaming = true }
        #expect(response?.status == .ok)
        #expect(transport.snapshot.active == 1)
        response = nil
        #expect(await eventually { transport.snapshot.active == 0 })
    }

    @Test("each phase ends in its time, to the millisecond rather than the second")
    func deadlines() async throws {
        let server = try MockServer()
        server.on(.get, "/head", respond: .text("late").stalled(at: .beforeHead))
        server.on(.get, "/body", respond: .generated(bytes: 1000).stalled(at: .afterBytes(10)))
        let short = Duration.milliseconds(60)
        let start = ContinuousClock.now
        let head = await transport.failure(.get, server.url + "/head", timeouts: Timeouts(firstByte: short))
        #expect(head?.reason == .timedOut(.firstByte))
        let body = await transport.failure(.get, server.url + "/body", timeouts: Timeouts(idle: short))
        #expect(body?.reason == .timedOut(.idle))
        #expect(body?.response?.status == .ok)
        let whole = await transport.failure(.get, server.url + "/head", timeouts: Timeouts(total: short))
        #expect(whole?.reason == .timedOut(.total))
        #expect(ContinuousClock.now - start >= short * 3)
        #expect(await eventually { transport.snapshot.active == 0 })
    }

    @Test("the attempt's deadline, also while a body is produced")
    func attempt() async throws {
        let (stream, continuation) = AsyncStream<Data>.makeStream()
        defer { continuation.finish() }
        let request = try HTTPRequest(
            .post, url: "http://127.0.0.1:1/", body: .stream { RequestBody.Chunks(stream) })
        var context = ExchangeContext()
        context.attemptDeadline = Deadline(.milliseconds(50), after: context.time.now)
        await #expect { try await transport.send(request, in: context) } throws: {
            ($0 as? NetworkError)?.reason == .timedOut(.attempt)
        }
    }

    @Test("failures are reported in the package's words")
    func failures() async throws {
        let lost = NetworkError.Reason.connectionLost(.requestMayHaveArrived)
        let faults: [(MockResponse, NetworkError.Reason)] = [
            (.closeBeforeReply, lost), (.text("x").reset(at: .beforeHead), lost),
            (.generated(bytes: 1000).truncated(after: 10), lost),
            (.generated(bytes: 1000).reset(at: .afterBytes(10)), lost),
            (.raw(Data("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n".utf8)), .badResponse),
        ]
        for (fault, expected) in faults {
            let server = try MockServer()
            server.on(nil, "/", respond: fault)
            let error = await transport.failure(.post, server.url + "/")
            #expect(error?.reason == expected, "\(fault): \(String(describing: error))")
            #expect(error?.request?.method == .post)
        }
        let stopped = try MockServer()
        stopped.stop()
        #expect(await transport.failure(.get, stopped.url + "/")?.reason == .unreachable)
        #expect(await transport.failure(.get, "http://name.invalid/")?.reason == .unreachable)
        let plain = try MockServer()
        plain.on(.get, "/", respond: .text("not secret"))
        let secure = await transport.failure(.get, "https://127.0.0.1:\(plain.port)/")
        #expect(secure?.reason == .secureConnectionFailed(.handshake))
    }

    @Test("connections that the server has closed lose nothing and repeat nothing", arguments: [0, 1000])
    func staleConnections(count: Int) async throws {
        let server = try MockServer()
        server.on(nil, "/", respond: .text("fine").closingSilently())
        let body = count == 0 ? RequestBody.empty : .bytes(pattern(count))
        for _ in 0..<5 {
            _ = try await transport.exchange(.get, server.url + "/").data()
            #expect(try await transport.exchange(.post, server.url + "/", body: body).text() == "fine")
        }
        let posts = server.requests.filter { $0.method == .post }
        #expect(posts.count == 5 && posts.allSatisfy { $0.body == pattern(count) })
    }

    @Test("shutdown ends what runs, refuses what comes, and can let things finish")
    func shutdown() async throws {
        let server = try MockServer()
        server.on(.get, "/stalled", respond: .text("x").stalled(at: .beforeHead))
        server.on(.get, "/slow", respond: .text("done").delayed(by: .milliseconds(50)))
        let first = Task { try await transport.exchange(.get, server.url + "/stalled") }
        try await server.waitForRequests(count: 1)
        await transport.shutdown()
        #expect(await reason(of: first) == .refused(by: .shutdown))
        #expect(await transport.failure(.get, server.url + "/slow")?.reason == .refused(by: .shutdown))
        let draining = URLSessionTransport()
        let second = Task { try await draining.exchange(.get, server.url + "/slow").text() }
        try await server.waitForRequests(count: 2)
        await draining.shutdown(.drain(deadline: .seconds(20)))
        #expect(try await second.value == "done")
        #expect(draining.snapshot.completed == 1)
    }
}
