// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore
@testable import CurlewResilience

/// What a circuit learns from, and what it keeps from being sent.
@Suite(.timeLimit(.minutes(1)))
struct CircuitTruthTests {
    let clock = ManualClock()

    private func next(_ answer: @escaping @Sendable (ExchangeContext) async throws -> HTTPResponse) -> Next {
        Next(context: ExchangeContext(time: clock)) { _, context in try await answer(context) }
    }

    private func send(_ breaker: CircuitBreaker, _ next: Next) async throws -> HTTPResponse {
        try await CircuitBreakerInterceptor(breaker).intercept(HTTPRequest(url: "https://a.test/"), next: next)
    }

    @Test("A body that breaks off does not count")
    func brokenBodies() async throws {
        let breaker = CircuitBreaker(CircuitBreaker.Policy(failureRatio: 0.1, minimumCalls: 1))
        let chunks = AsyncThrowingStream<Data, any Error> {
            $0.finish(throwing: NetworkError(.connectionLost(.requestMayHaveArrived)))
        }
        let response = try await send(breaker, next { _ in HTTPResponse(body: ResponseBody(chunks)) })
        await #expect(throws: NetworkError.self) { try await response.data() }
        #expect(breaker.openCircuits.isEmpty)
    }

    enum Queue: CaseIterable { case places, tokens, both }

    @Test("No call that was queued before the circuit opened is sent", arguments: Queue.allCases)
    func queued(_ queue: Queue) async throws {
        // Open for longer than the calls live: no trial is due.
        let breaker = CircuitBreaker(
            CircuitBreaker.Policy(failureRatio: 1, minimumCalls: 4, openTime: .seconds(20_000)))
        let (limit, rate) = (ConcurrencyLimit(1), RateLimit(1, every: .seconds(1)))
        var pipeline: Pipeline = [.circuitBreaker(breaker)]
        if queue != .places { pipeline = pipeline.adding(.rateLimit(rate)) }
        if queue != .tokens { pipeline = pipeline.adding(.concurrencyLimit(limit)) }
        let (gate, ended) = (SharedResult<Void>(), Locked(0))
        let mock = MockTransport.answering { _ in
            try await gate.wait()
            return .status(503)
        }
        let client = APIClient.mock(mock, pipeline: pipeline, configuration: .init(time: clock))
        let calls = (0..<50).map { _ in
            Task {
                let error = await failure { () throws(NetworkError) in try await client.send(Request<Void>.get("/")) }
                ended.withLock { $0 += 1 }
                return error?.reason
            }
        }
        // One has left, and all others are queued.
        try await yieldUntil { queue == .places ? limit.load == (1, 49) : rate.waitingCount >= 49 }
        gate.finish(.success(()))
        if queue != .places {
            // Each second brings a token, with which one call ends at least.
            try await yieldUntil { ended.withLock { $0 } > 0 }
            while ended.withLock({ $0 }) < 50 {
                let before = ended.withLock { $0 }
                clock.advance(by: .seconds(1))
                try await yieldUntil { ended.withLock { $0 } != before }
            }
        }
        var reasons: [NetworkError.Reason?] = []
        for call in calls { reasons.append(await call.value) }
        // A slot is free a moment before the circuit receives the failure: a call or two may leave in between.
        let sent = mock.requestCount
        #expect(queue == .tokens ? sent == 4 : (4...8).contains(sent))
        #expect(reasons.count { $0 == .refused(by: .circuitBreaker) } == 50 - sent, "\(reasons)")
        #expect(limit.load == (0, 0) && rate.waitingCount == 0)
    }

    @Test(
        "A call that ran out of time counts only if the server had at least half of it",
        arguments: [(0, true), (4, true), (5, true), (6, false), (9, false)])
    func ranOutOfTime(before: Int, counts: Bool) async throws {
        let breaker = CircuitBreaker(CircuitBreaker.Policy(failureRatio: 1, minimumCalls: 1))
        let context = ExchangeContext(timeouts: Timeouts(total: .seconds(10)), time: clock)
        let clock = clock
        // The queue stands between the breaker and the place where requests leave.
        let queue = ClosureQueue { clock.advance(by: .seconds(before)) }
        let transport = ClosureTransport(changesPrincipal: false) { _, _ in
            clock.advance(by: .seconds(10 - before))
            throw NetworkError(.timedOut(.total))
        }
        let chain = Chain([CircuitBreakerInterceptor(breaker), queue], transport)
        await #expect(throws: NetworkError.self) {
            try await Next(context: context, chain: chain)(HTTPRequest(url: "https://a.test/"))
        }
        #expect(breaker.openCircuits.isEmpty != counts)
    }

    struct ClosureQueue: Interceptor {
        let wait: @Sendable () -> Void

        func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
            wait()
            return try await next(request)
        }
    }

    @Test(
        "Hosts without an address or a route are failures, a machine without a network is none",
        arguments: [
            (7, EHOSTUNREACH, true), (6, 0, true), (7, ECONNREFUSED, true), (-1003, 0, true), (7, ENETUNREACH, false),
            (6, ENETDOWN, false),
        ])
    func deadHosts(code: Int, systemError: Int32, counts: Bool) async throws {
        let breaker = CircuitBreaker(CircuitBreaker.Policy(failureRatio: 1, minimumCalls: 3))
        let cause = NetworkError.TransportFailure(engine: "test", code: code, message: "away", systemError: systemError)
        let error = NetworkError(.unreachable, underlying: cause)
        for _ in 0..<3 {
            await #expect(throws: NetworkError.self) { try await send(breaker, next { _ in throw error }) }
        }
        #expect(breaker.openCircuits.isEmpty != counts)
        #expect(error.isOffline != counts)
    }
}
