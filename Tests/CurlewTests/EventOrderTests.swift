// SPDX-License-Identifier: MIT

import Dispatch
import Testing

@testable import CurlewAuthentication
@testable import CurlewCaching
@testable import CurlewCore
@testable import CurlewResilience

/// Random calls through random pipelines over a transport that fails in every way and reports its metrics from a thread
/// of its own. `CURLEW_EVENT_CALLS` makes more of them than a usual run.
@Suite(.timeLimit(.minutes(10)))
struct EventOrderTests {
    static let seeds: Range<UInt64> = {
        let count = ProcessInfo.processInfo.environment["CURLEW_EVENT_CALLS"].flatMap { UInt64($0) } ?? 4000
        return 0..<max(1, count / 200)
    }()

    @Test("Events come in the documented order, all of them before the call returns", arguments: seeds)
    func property(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        for round in 0..<10 {
            let scene = EventScene(seed: random.next())
            for problem in await scene.run().prefix(3) {
                Issue.record("seed \(seed), round \(round), \(scene.pipeline): \(problem)")
            }
        }
    }
}

/// A user is signed in.
private struct Signed: TokenStore.Persistence {
    func load() async throws -> Tokens? { Tokens(accessToken: "a", refreshToken: "r") }
    func save(_ tokens: Tokens?) async throws {}
}

/// One client, and twenty calls, some of them at the same time.
private struct EventScene: Sendable {
    let pipeline: Pipeline
    private let random: Locked<SeededGenerator>
    private let isShared: Bool
    private let clock = ManualClock.skippingWaits

    init(seed: UInt64) {
        var numbers = SeededGenerator(seed: seed)
        func chance() -> Bool { Int.random(in: 0..<2, using: &numbers) == 0 }
        var pipeline: Pipeline = chance() ? [.redirects()] : []
        let budget = RetryBudget()
        let store = TokenStore(Signed(), time: clock)
        isShared = Int.random(in: 0..<5, using: &numbers) == 0
        if isShared { pipeline = pipeline.adding(.coalescing()) }
        if chance() { pipeline = pipeline.adding(.caching(store: HTTPCache.MemoryStore())) }
        if chance() { pipeline = pipeline.adding(.retry(.attempts(4), budget: budget)) }
        if chance() { pipeline = pipeline.adding(.hedging(after: .milliseconds(1), budget: budget)) }
        if chance() { pipeline = pipeline.adding(.circuitBreaker(CircuitBreaker.Policy(minimumCalls: 3))) }
        if chance() { pipeline = pipeline.adding(.concurrencyLimit(2)) }
        if chance() {
            pipeline = pipeline.adding(
                .bearer(store) { refresh in
                    try await refresh.client.send(Request<Data>.post("/renew").name("renewal"))
                    return Tokens(accessToken: "b", refreshToken: "r")
                })
        }
        if chance() { pipeline = pipeline.adding(.attemptTimeout(.seconds(2))) }
        self.pipeline = pipeline
        random = Locked(numbers)
    }

    private func number(_ bound: Int) -> Int { random.withLock { Int.random(in: 0..<bound, using: &$0) } }

    /// What went wrong.
    func run() async -> [String] {
        let referee = EventReferee(isShared: isShared)
        let client = APIClient.testing(
            RestlessTransport(random: random), baseURL: "https://a.test", pipeline: pipeline, observers: [referee],
            time: clock)
        let missing = Locked<[String]>([])
        await withTaskGroup { group in
            for index in 0..<20 {
                let (name, how, path) = ("call \(index)", number(3), "/\(number(3))")
                let patience = number(4) == 0 ? number(30) : nil
                group.addTask {
                    let call = Task {
                        await self.call(client, name, path, how)
                        if let problem = referee.check(name) { missing.withLock { $0.append(problem) } }
                    }
                    if let patience {
                        for _ in 0..<patience { await Task.yield() }
                        call.cancel()
                    }
                    await call.value
                }
                // Two or three at a time.
                if index % 3 == 2 { await group.waitForAll() }
            }
        }
        await client.core.events?.queue?.allDelivered()
        return referee.problems + missing.withLock { $0 }
    }

    private func call(_ client: APIClient, _ name: String, _ path: String, _ how: Int) async {
        let request = Request<Data>.get(RequestPath(path)).name(name)
        if how == 0 {
            try? await client.withResponse(to: request) { response in
                for try await _ in response.body where number(3) == 0 { return }
            }
        } else {
            _ = try? await client.send(how == 1 ? request : request.options { $0.isIdempotent = false })
        }
    }
}

/// Answers, delays, breaks off and measures at random, like a transport with threads of its own.
private struct RestlessTransport: Transport {
    let random: Locked<SeededGenerator>

    func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .anonymous }

    private func number(_ bound: Int) -> Int { random.withLock { Int.random(in: 0..<bound, using: &$0) } }

    func send(_ request: HTTPRequest, in context: ExchangeContext) async throws -> HTTPResponse {
        let measures = number(2) == 0
        if number(4) == 0 { elsewhere(context, .connecting(.opened)) }
        if number(4) == 0 { context.record(.interim(HTTPStatus(103), [:])) }
        if number(4) == 0 { for _ in 0..<number(20) { await Task.yield() } }
        try Task.checkCancellation()
        if number(6) == 0 {
            if measures { elsewhere(context, .measured(metrics)) }
            throw NetworkError(.connectionLost(.requestNotSent))
        }
        var response = HTTPResponse(status: HTTPStatus([200, 200, 200, 200, 401, 503, 404, 302, 304][number(9)]))
        if response.status.isRedirection { response.headers[.location] = "/\(number(3))" }
        if number(2) == 0 { response.headers[.cacheControl] = "max-age=\(number(2)), stale-while-revalidate=60" }
        if number(2) == 0 {
            // The response is complete, and measured on another thread before the head is reported.
            response.body = ResponseBody(Data("body".utf8))
            if measures {
                elsewhere(context, .trailers(["X-Sum": "1"]))
                elsewhere(context, .measured(metrics))
            }
            return response
        }
        response.body = body(context, measures)
        return response
    }

    private var metrics: ExchangeMetrics {
        var metrics = ExchangeMetrics()
        metrics.total = .milliseconds(1)
        return metrics
    }

    private func elsewhere(_ context: ExchangeContext, _ event: ExchangeEvent) {
        DispatchQueue.global().sync { context.record(event) }
    }

    /// Chunks from another task, which end, break off or go on until they are cancelled.
    private func body(_ context: ExchangeContext, _ measures: Bool) -> ResponseBody {
        let (stream, source) = AsyncThrowingStream<Data, any Error>.makeStream()
        let (chunks, ending) = (number(3), number(4))
        Task {
            for _ in 0..<number(10) { await Task.yield() }
            for _ in 0..<chunks { source.yield(Data("chunk".utf8)) }
            if ending > 0, measures { elsewhere(context, .trailers(["X-Sum": "1"])) }
            if measures { elsewhere(context, .measured(metrics)) }
            source.finish(throwing: ending == 0 ? NetworkError(.connectionLost(.requestMayHaveArrived)) : nil)
        }
        return ResponseBody(stream)
    }
}
