// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore
@testable import CurlewResilience

@Suite(.timeLimit(.minutes(1)))
struct PresetTests {
    @Test("The resilient pipeline has its parts in the order of their placements, and no problems")
    func resilient() {
        #expect(
            Pipeline.resilient().description
                == "Redirects → Retry(3 attempts, exponential 100 ms…20 s) → CircuitBreaker(50 % of 20 in 30 s)"
                + " → \(ConcurrencyLimitInterceptor(limit: ConcurrencyLimit(1000))) → AttemptTimeout(10 s) → transport")
        let full = Pipeline.resilient(hedging: .seconds(1), rateLimit: RateLimit(10, every: .seconds(1)))
        #expect(full.problems(in: Pipeline.Environment(totalTimeout: .seconds(300))).isEmpty)
        #expect(full.entries.map(\.traits.placement) == full.entries.map(\.traits.placement).sorted())
        #expect(full.entries.count == 7)
    }

    static let table: [(Pipeline, total: Duration, problem: String)] = [
        (.resilient(attemptTimeout: .milliseconds(15_001)), .seconds(300), "at least twice as long"),
        (.resilient(attemptTimeout: .seconds(10), hedging: .seconds(10)), .seconds(300), "Use a shorter delay"),
        (.resilient(circuit: CircuitBreaker.Policy(failureRatio: 0)), .seconds(300), "failureRatio"),
        (.resilient(retry: .attempts(0)), .seconds(300), "Allow at least one"),
        (.resilient(concurrency: 0), .seconds(300), "concurrency"),
        (Pipeline.resilient().adding(.retry()), .seconds(300), "attempts multiply"),
        (
            Pipeline.resilient().adding(.hedging(after: .seconds(1), budget: RetryBudget())), .seconds(300),
            "the same RetryBudget"
        ),
        (Pipeline(Pipeline.resilient().entries.map(\.interceptor).reversed()), .seconds(300), "works only right of it"),
    ]

    @Test("Combinations that cannot work are problems, and the first call throws them", arguments: table)
    func problems(pipeline: Pipeline, total: Duration, problem: String) async throws {
        let configuration = APIClient.Configuration(timeouts: Timeouts(total: total))
        let client = APIClient.mock(pipeline: pipeline, configuration: configuration) { $0.onAny { _ in .status(204) } }
        #expect(client.problems.contains { $0.lowercased().contains(problem.lowercased()) }, "\(client.problems)")
        let error = await client.failure(Request<Void>.get("/"))
        #expect(error?.reason == .configuration)
        #expect(error?.detail.lowercased().contains(problem.lowercased()) == true)
    }

    @Test("The resilient pipeline repeats an attempt that takes too long; failures open the circuit")
    func whole() async throws {
        let clock = ManualClock.skippingWaits
        let count = Locked(0)
        let configuration = APIClient.Configuration(
            timeouts: Timeouts(firstByte: nil, total: .seconds(300)), time: clock)
        let client = APIClient.mock(pipeline: .resilient(), configuration: configuration) {
            $0.on(.get, "/slow") { call in
                let turn = count.next()
                if turn == 1 { throw NetworkError(.timedOut(.attempt)) }
                return .status(200)
            }
            $0.on(.get, "/late", delay: .seconds(11), .status(200))
            $0.on(.get, "/down", .status(503))
        }
        let response = try await client.response(for: Request<HTTPResponse>(.get, "/slow"))
        #expect(response.attempts.map { "\($0.outcome)" } == ["timedOut attempt", "status 200"])
        let error = await client.failure(Request<Void>.get("/late"))
        #expect(error?.reason == .timedOut(.attempt))
        #expect(error?.attempts.map(\.duration) == [.seconds(10), .seconds(10), .seconds(10)])
        for _ in 0..<10 {
            _ = await client.failure(Request<Void>.get("/down"))
        }
        let refused = await client.failure(Request<Void>.get("/down"))
        #expect(refused?.reason == .refused(by: .circuitBreaker))
        #expect(refused?.attempts.map(\.decision) == [.finish(because: .final)])
    }
}
