// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCaching
@testable import CurlewCore
@testable import CurlewResilience

/// One budget for all that repeats, and one of each of what must not stand twice.
@Suite(.timeLimit(.minutes(1)))
struct PipelineBudgetTests {
    @Test("A retry that replaces the preset's pays from the budget of the preset's hedging")
    func replacing() throws {
        let budget = RetryBudget()
        let preset = Pipeline.resilient(hedging: .seconds(1), budget: budget)
        #expect(preset.retryBudget === budget)
        let pipeline = preset.replacing(.retry(.attempts(5)))
        #expect(pipeline.retryBudget === budget)
        #expect(pipeline.problems(in: Pipeline.Environment(totalTimeout: .seconds(300))).isEmpty)
        let implicit = Pipeline.resilient(hedging: .seconds(1)).replacing(.retry(.attempts(5)))
        #expect(implicit.problems().isEmpty && implicit.retryBudget != nil)
    }

    @Test("Interceptors without a budget share one in any order; two named budgets are a problem")
    func sharing() {
        let budget = RetryBudget()
        let pipelines: [Pipeline] = [
            [.retry(), .hedging(after: .seconds(1))], Pipeline.standard.adding(.hedging(after: .seconds(1))),
            Pipeline.empty.adding(.hedging(after: .seconds(1))).adding(.retry(), at: .retry, changesPrincipal: false),
            Pipeline.standard.adding(.hedging(after: .seconds(1), budget: budget)),
            [.retry(budget: budget), .hedging(after: .seconds(1))],
        ]
        for pipeline in pipelines {
            #expect(pipeline.retryBudget != nil && pipeline.problems().isEmpty, "\(pipeline)")
        }
        #expect(pipelines[3].retryBudget === budget && pipelines[4].retryBudget === budget)
        let two: Pipeline = [.retry(budget: RetryBudget()), .hedging(after: .seconds(1), budget: budget)]
        #expect(two.problems().contains { $0.contains("the same RetryBudget") })
        #expect(Pipeline.empty.retryBudget == nil)
    }

    /// Sends a call that fails with 503, whose first response waits until hedging has decided. Returns the response,
    /// the number of requests, and the origin.
    private func failing(_ pipeline: Pipeline) async throws -> (response: HTTPResponse, requests: Int, origin: Origin) {
        let (requests, decided) = (Locked(0), SharedResult<Void>())
        let transport = ClosureTransport { _, _ in
            let number = requests.withLock { requests in
                requests += 1
                return requests
            }
            if number == 1 { try await decided.wait() } else { decided.finish(.success(())) }
            return .status(503)
        }
        let client = APIClient.testing(
            transport, baseURL: "https://a.test", pipeline: pipeline, observers: [Refusal(decided)])
        let response = try await client.send(Request<HTTPResponse>(.get, "/"))
        return (response, requests.withLock { $0 }, try #require(client.baseURL?.origin))
    }

    /// Waits for the event that a budget does not pay for a second request.
    private struct Refusal: RequestObserver {
        let refused: SharedResult<Void>

        init(_ refused: SharedResult<Void>) { self.refused = refused }

        func record(_ event: ExchangeEvent, in context: ExchangeContext) {
            guard case .feature(let notice as Pipeline.PolicyEvent) = event, notice.kind == .budgetExhausted else {
                return
            }
            refused.finish(.success(()))
        }
    }

    @Test("Retry and hedging pay from the one budget that the app passed to either")
    func paying() async throws {
        let empty = RetryBudget(capacity: 0)
        for pipeline in [
            [.retry(budget: empty), .hedging(after: .zero)], [.retry(), .hedging(after: .zero, budget: empty)],
        ] as [Pipeline] {
            let (response, requests, _) = try await failing(pipeline)
            #expect(response.attempts.map(\.decision.cause) == [.budgetExhausted])
            #expect(requests == 1, "neither a retry nor a second request")
        }
    }

    @Test("A hedging without a budget pays from the retry's, also if the retry is added later")
    func payingTogether() async throws {
        let pipelines: [Pipeline] = [
            [.retry(.never), .hedging(after: .zero)],
            Pipeline([.retry(.attempts(2)), .hedging(after: .zero)]).replacing(.retry(.never)),
            Pipeline([.hedging(after: .zero)]).adding(.retry(.never)),
        ]
        for pipeline in pipelines {
            let budget = try #require(pipeline.retryBudget)
            let (_, requests, origin) = try await failing(pipeline)
            #expect(requests == 2 && budget.tokens(for: origin) == budget.capacity - budget.price)
        }
    }

    static let twice: [(Pipeline, String)] = [
        (Pipeline.empty.adding(.caching()).adding(.caching()), "2 caches"),
        (Pipeline.empty.adding(.coalescing()).adding(.coalescing()).adding(.coalescing()), "3 coalescings"),
        (Pipeline.empty.adding(.circuitBreaker()).adding(.circuitBreaker()), "2 circuit breakers for each origin"),
        (Pipeline.standard.adding(.hedging(after: .seconds(1))).adding(.hedging(after: .seconds(1))), "2 hedgings"),
        (
            Pipeline.empty.adding(.attemptTimeout(.seconds(1))).adding(.attemptTimeout(.seconds(2))),
            "2 attempt timeouts"
        ),
        (Pipeline.empty.adding(.caching()).adding(.caching(), at: .caching, changesPrincipal: false), "2 caches"),
    ]

    @Test("Each interceptor that must not stand twice is a problem, once", arguments: twice)
    func surplus(pipeline: Pipeline, text: String) {
        let found = pipeline.problems().filter { $0.contains(text) }
        #expect(found.count == 1 && found.first?.contains("replacing(_:)") == true, "\(pipeline.problems())")
    }

    @Test("Several breakers and limits of different scopes stand together")
    func together() {
        let pipeline = Pipeline.standard.adding(.circuitBreaker()).adding(.circuitBreaker(per: .route))
            .adding(.rateLimit(10, every: .seconds(1))).adding(.rateLimit(1000, every: .seconds(3600)))
            .adding(.concurrencyLimit(8)).adding(.concurrencyLimit(2, per: .route))
        #expect(pipeline.problems().isEmpty, "\(pipeline.problems())")
    }
}
