// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore

@Suite(.timeLimit(.minutes(1)))
struct NextTests {
    /// Keeps its `Next` for later.
    struct Keep: Interceptor {
        let kept = Locked<Next?>(nil)

        func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
            kept.withLock { $0 = next }
            return HTTPResponse(status: .accepted)
        }
    }

    static func request() throws -> HTTPRequest { try HTTPRequest(url: "https://a.test/x") }

    @Test("Next can be called again, and each time every interceptor further in runs")
    func again() async throws {
        let attempts = Locked<[Int]>([])
        let hook: any Interceptor = .onRequest { request, context in
            attempts.withLock { $0.append(context.attempt) }
            request.headers.append("Count", "1")
        }
        let seen = Locked<[Int]>([])
        let transport = ClosureTransport { request, context in
            seen.withLock { $0.append(request.headers[values: "Count"].count) }
            return HTTPResponse()
        }
        let exchanger = Pipeline.Runner(pipeline: [RepeatingInterceptor(times: 3), hook], transport: transport)
        _ = try await exchanger.exchange(Self.request(), in: ExchangeContext())
        #expect(attempts.withLock { $0 } == [1, 2, 3])
        #expect(seen.withLock { $0 } == [1, 1, 1], "each repetition begins with the request it was given")
    }

    @Test("A changed context reaches the interceptors further in, and no others")
    func context() async throws {
        let exchanger = Pipeline.Runner(
            pipeline: [RepeatingInterceptor(times: 2)],
            transport: ClosureTransport { _, context in HTTPResponse(status: HTTPStatus(200 + context.attempt)) })
        let context = ExchangeContext()
        #expect(try await exchanger.exchange(Self.request(), in: context).status == 202)
        #expect(context.attempt == 1)
    }

    @Test("Next may be kept, and called after the call that made it, from several tasks at once")
    func escaping() async throws {
        let keep = Keep()
        let count = Locked(0)
        let transport = ClosureTransport { _, _ in
            count.withLock { $0 += 1 }
            return HTTPResponse(status: .created)
        }
        let exchanger = Pipeline.Runner(pipeline: [keep], transport: transport)
        #expect(try await exchanger.exchange(Self.request(), in: ExchangeContext()).status == .accepted)
        #expect(count.withLock { $0 } == 0)
        let next = try #require(keep.kept.withLock { $0 })
        try await withThrowingTaskGroup(of: HTTPStatus.self) { group in
            for _ in 0..<20 { group.addTask { try await next(Self.request()).status } }
            for try await status in group { #expect(status == .created) }
        }
        #expect(count.withLock { $0 } == 20)
    }

    @Test("A request changed by interceptors is checked before it reaches the transport", arguments: 0...2)
    func validation(change: Int) async throws {
        let transport = RecordingTransport()
        let broken: any Interceptor = .onRequest { request, _ in
            switch change {
            case 0: request.headers["X"] = "a\r\nInjected: 1"
            case 1: request.method = "GET /x HTTP/1.1"
            default: request.body = .bytes(Data()).trailing("X") { [:] }
            }
        }
        let client = APIClient.testing(transport, pipeline: [broken])
        let error = await #expect(throws: NetworkError.self) { try await client.send(Request<Void>.get("/")) }
        #expect(error?.reason == .invalidRequest && transport.requests.isEmpty)
    }

    @Test("The call's limit holds for the bodies of every transport", arguments: [2, 200 << 20] as [Int64])
    func limits(limit: Int64) async throws {
        let transport = ClosureTransport { _, _ in HTTPResponse(body: ResponseBody(Data("abc".utf8))) }
        for observers: [any RequestObserver] in [[], [Deaf()]] {
            let context = ExchangeContext(limits: Limits(responseBody: limit), observers: observers)
            let response = try await Pipeline.Runner(pipeline: [], transport: transport)
                .exchange(try Self.request(), in: context)
            #expect(response.body.limit == limit)
            if limit == 2 {
                #expect(await failureReason { try await response.data() } == .limitExceeded(.responseBody))
            } else {
                #expect(try await response.data() == Data("abc".utf8))
            }
        }
    }

    struct Deaf: RequestObserver {
        func record(_ event: ExchangeEvent, in context: ExchangeContext) {}
    }
}
