// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore
@testable import CurlewResilience

@Suite(.timeLimit(.minutes(1)))
struct HedgingTests {
    let clock = ManualClock()
    let budget = RetryBudget()
    let origin = Origin(scheme: "https", host: "a.test")

    /// A server whose first and second request take these outcomes after these times.
    final class Server: Sendable {
        enum Step: Sendable {
            case answer(HTTPResponse, after: Duration)
            case fail(NetworkError, after: Duration)
        }

        private let steps: [Step]
        let state = Locked((sent: 0, cancelled: 0, ended: 0))

        init(_ steps: Step...) { self.steps = steps }

        func next(_ context: ExchangeContext) -> Next {
            Next(context: context) { _, context in
                let number = self.state.withLock { state in
                    state.sent += 1
                    return state.sent - 1
                }
                guard number < self.steps.count else { throw NetworkError(.refused(by: .mock)) }
                func wait(_ duration: Duration) async throws {
                    do {
                        if duration > .zero { try await context.time.sleep(for: duration) }
                        self.state.withLock { $0.ended += 1 }
                    } catch {
                        self.state.withLock { $0.cancelled += 1 }
                        throw error
                    }
                }
                switch self.steps[number] {
                case .answer(let response, let time):
                    try await wait(time)
                    return response
                case .fail(let error, let time):
                    try await wait(time)
                    throw error
                }
            }
        }
    }

    func send(
        _ server: Server, _ method: HTTPMethod = .get, body: RequestBody = .empty, budget: RetryBudget? = nil,
        total: Duration? = nil
    ) -> Task<HTTPResponse, any Error> {
        let hedging = BuiltInInterceptor.hedging(after: .milliseconds(100), budget: budget ?? self.budget)
        let next = server.next(ExchangeContext(timeouts: Timeouts(total: total), time: clock))
        return Task {
            try await hedging.intercept(HTTPRequest(method, url: "https://a.test/", body: body), next: next)
        }
    }

    func tokens(_ budget: RetryBudget) throws -> Int { budget.tokens(for: try #require(origin)) }

    @Test("A failure whose body holds the second request's slot does not block that request")
    func heldSlot() async throws {
        let (sent, hedged) = (Locked(0), SharedResult<Void>())
        let entered = Locked(0)
        let client = APIClient(
            baseURL: "https://a.test",
            pipeline: Pipeline(
                [
                    .hedging(after: .milliseconds(1), budget: budget),
                    .onRequest(at: .rateLimit) { _, _ in
                        let count = entered.next()
                        if count == 2 { hedged.finish(.success(())) }
                    }, .concurrencyLimit(1),
                ]),
            transport: ClosureTransport { _, _ in
                let number = sent.next()
                guard number == 1 else { return .status(200) }
                try await hedged.wait()
                let chunks = AsyncStream<Data> { source in
                    source.yield(Data("busy".utf8))
                    source.finish()
                }
                return HTTPResponse(status: .serviceUnavailable, body: ResponseBody(chunks))
            }, configuration: APIClient.Configuration(time: ManualClock.skippingWaits))
        #expect(try await client.send(Request<HTTPResponse>(.get, "/")).status == .ok)
        #expect(sent.withLock { $0 } == 2)
    }

    @Test("A response in time is the only one")
    func inTime() async throws {
        let server = Server(.answer(.status(200), after: .milliseconds(99)))
        let call = send(server)
        try await clock.waitForSleepers(2)
        clock.advance(by: .milliseconds(99))
        let response = try await call.value
        #expect(response.notes == [] && server.state.withLock { $0 } == (1, 0, 1))
        #expect(try tokens(budget) == 500)
    }

    @Test("A late response is raced by a second one; the loser is cancelled")
    func late() async throws {
        let server = Server(
            .answer(.status(200), after: .seconds(9)), .answer(.status(201), after: .milliseconds(50)))
        let call = send(server)
        try await clock.waitForSleepers(2)
        #expect(clock.advanceToNextSleeper() == .milliseconds(100))
        try await clock.waitForSleepers(2)
        #expect(clock.advanceToNextSleeper() == .milliseconds(50))
        let response = try await call.value
        #expect(response.status == 201 && server.state.withLock { $0 } == (2, 1, 1))
        #expect(response.notes == ["sent twice because the first took longer than 100 ms; the second counts"])
        #expect(try tokens(budget) == 486)
        #expect(clock.sleeperCount == 0)
    }

    @Test("The first request may still win")
    func firstWins() async throws {
        let server = Server(
            .answer(.status(200), after: .milliseconds(120)), .answer(.status(201), after: .seconds(1)))
        let call = send(server)
        try await clock.waitForSleepers(2)
        clock.advance(by: .milliseconds(100))
        try await clock.waitForSleepers(2)
        clock.advance(by: .milliseconds(20))
        let response = try await call.value
        #expect(response.status == .ok && server.state.withLock { $0 } == (2, 1, 1))
        #expect(response.notes.first?.hasSuffix("the first counts") == true)
    }

    @Test(
        "An outcome before the delay is the call's, whatever it is",
        arguments: [
            Server.Step.answer(.status(404), after: .zero), .answer(.status(429), after: .zero),
            .answer(.status(500), after: .zero), .answer(.status(503, headers: ["Retry-After": "3"]), after: .zero),
            .fail(NetworkError(.connectionLost(.requestMayHaveArrived)), after: .zero),
            .fail(NetworkError(.timedOut(.firstByte)), after: .zero),
            .fail(NetworkError(.refused(by: .circuitBreaker)), after: .zero),
            .fail(NetworkError(.cancelled), after: .zero),
        ])
    func ended(step: Server.Step) async throws {
        let server = Server(step, .answer(.status(200), after: .zero))
        switch (step, await send(server).result) {
        case (.answer(let expected, _), .success(let response)): #expect(response.status == expected.status)
        case (.fail(let expected, _), .failure(let error)): #expect(NetworkError(error).reason == expected.reason)
        default: Issue.record("another outcome")
        }
        #expect(server.state.withLock { $0.sent } == 1)
        #expect(try tokens(budget) == 500)
    }

    /// The outcome of a race whose first request ends after 200 ms, and the second, which begins after 100 ms, a second
    /// later.
    private func race(
        _ first: (Duration) -> Server.Step, _ second: (Duration) -> Server.Step
    ) async throws -> Result<HTTPResponse, any Error> {
        let call = send(Server(first(.milliseconds(200)), second(.seconds(1))))
        try await clock.waitForSleepers(2)
        clock.advance(by: .milliseconds(100))
        try await clock.waitForSleepers(2)
        clock.advance(by: .milliseconds(100))
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(1))
        return await call.result
    }

    @Test("When both fail the later failure counts, unless a policy refused it")
    func bothFail() async throws {
        let lost = NetworkError(.connectionLost(.requestMayHaveArrived))
        let failed = try await race {
            .answer(.status(500), after: $0)
        } _: {
            .fail(lost, after: $0)
        }
        let error = #expect(throws: NetworkError.self) { try failed.get() }
        #expect(error?.reason == lost.reason)
        #expect(error?.notes == ["sent twice because the first took longer than 100 ms; the second counts"])
        let refused = NetworkError(.refused(by: .circuitBreaker))
        let response = try await race {
            .answer(.status(500), after: $0)
        } _: {
            .fail(refused, after: $0)
        }.get()
        #expect(response.status == 500 && response.notes.first?.hasSuffix("the first counts") == true)
    }

    @Test("A success is one token, whichever interceptor repeats calls")
    func deposits() async throws {
        for pipeline: Pipeline in [
            [.retry(budget: budget), .hedging(after: .seconds(1), budget: budget)],
            [.hedging(after: .seconds(1), budget: budget)], [.retry(budget: budget)],
        ] {
            let origin = try #require(origin)
            while budget.tokens(for: origin) >= 14 { #expect(budget.withdraw(for: origin) != nil) }
            let before = budget.tokens(for: origin)
            let client = APIClient.mock(baseURL: "https://a.test", pipeline: pipeline) {
                $0.onAny { _ in .status(204) }
            }
            for _ in 0..<10 { try await client.send(Request<Void>.get("/")) }
            #expect(budget.tokens(for: origin) == before + 10, "\(pipeline)")
        }
    }

    @Test("A rule excludes calls, and includes none that must not happen twice")
    func rule() async throws {
        for (method, isWanted, sent) in [(HTTPMethod.get, true, 2), (.get, false, 1), (.post, true, 1)] {
            let server = Server(
                .answer(.status(200), after: .milliseconds(300)), .answer(.status(200), after: .milliseconds(10)))
            let hedging = BuiltInInterceptor.hedging(
                after: .milliseconds(100),
                when: { request, _ in
                    request.method == .post || isWanted
                })
            let next = server.next(ExchangeContext(time: ManualClock.skippingWaits))
            _ = try await hedging.intercept(HTTPRequest(method, url: "https://a.test/"), next: next)
            if sent == 1 { #expect(server.state.withLock { $0.sent } == 1) }
        }
    }

    @Test("An empty budget means one request")
    func emptyBudget() async throws {
        let empty = RetryBudget(capacity: 0)
        let server = Server(.answer(.status(200), after: .seconds(9)), .answer(.status(201), after: .zero))
        let call = send(server, budget: empty)
        try await clock.waitForSleepers(2)
        clock.advance(by: .milliseconds(100))
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(9))
        #expect(try await call.value.status == .ok && server.state.withLock { $0.sent } == 1)
    }

    @Test("A call that must not be sent twice, cannot be, or has no time for it, is sent once")
    func once() async throws {
        let stream = RequestBody.stream { RequestBody.Chunks(AsyncStream<Data> { $0.finish() }) }
        for call in [
            send(Server(.answer(.status(500), after: .zero)), .post),
            send(Server(.answer(.status(500), after: .zero)), .put, body: stream),
            send(Server(.answer(.status(500), after: .zero)), total: .milliseconds(100)),
        ] {
            #expect(try await call.value.status == 500)
        }
        #expect(try tokens(budget) == 500)
    }

    @Test("Cancelling the call cancels both requests")
    func cancellation() async throws {
        let server = Server(.answer(.status(200), after: .seconds(9)), .answer(.status(201), after: .seconds(9)))
        let call = send(server)
        try await clock.waitForSleepers(2)
        clock.advance(by: .milliseconds(100))
        try await clock.waitForSleepers(2)
        call.cancel()
        await #expect(throws: (any Error).self) { try await call.value }
        #expect(server.state.withLock { $0 } == (2, 2, 0) && clock.sleeperCount == 0)
    }

    @Test("The loser's body is cancelled, the winner's can be read")
    func bodies() async throws {
        let over = Locked(0)
        func streamed(_ text: String) -> HTTPResponse {
            let stream = AsyncStream<Data> {
                $0.yield(Data(text.utf8))
                $0.finish()
            }
            let body = ResponseBody(stream).onEnd { _ in over.withLock { $0 += 1 } }
            return HTTPResponse(body: body)
        }
        var failed = streamed("failed")
        failed.status = 500
        let response = try await race {
            .answer(failed, after: $0)
        } _: {
            .answer(streamed("fine"), after: $0)
        }.get()
        #expect(over.withLock { $0 } == 1)
        #expect(try await response.text() == "fine")
    }

    @Test("A negative delay is a problem of the pipeline")
    func problems() {
        #expect(Pipeline([.hedging(after: .seconds(-1), budget: budget)]).problems().count == 1)
        let pipeline = Pipeline([.hedging(after: .milliseconds(300), budget: budget)])
        #expect(pipeline.problems().isEmpty && pipeline.description == "Hedging(300 ms) → transport")
    }
}
