// SPDX-License-Identifier: MIT

import CurlewHTTP
import CurlewTesting
import Testing

@testable import CurlewCaching
@testable import CurlewCore
@testable import CurlewResilience

/// One budget for all that repeats, and one of each of what must not stand twice.
@Suite(.timeLimit(.minutes(1)))
struct PipelineBudgetTests {
    static func budgets(_ pipeline: Pipeline) -> Set<ObjectIdentifier> {
        Set(
            pipeline.interceptors.compactMap {
                ($0.plain as? RetryInterceptor)?.budget ?? ($0.plain as? HedgingInterceptor)?.budget
            }.map { ObjectIdentifier($0) })
    }

    @Test("A retry in place of the preset's pays from the same budget as its hedging, which can be had")
    func replacing() throws {
        let budget = RetryBudget()
        let preset = Pipeline.resilient(hedging: .seconds(1), budget: budget)
        #expect(preset.retryBudget === budget)
        let pipeline = preset.replacing(.retry(.attempts(5)))
        #expect(Self.budgets(pipeline) == [ObjectIdentifier(budget)])
        #expect(pipeline.problems(in: Pipeline.Environment(totalTimeout: .seconds(300))).isEmpty)
        let implicit = Pipeline.resilient(hedging: .seconds(1)).replacing(.retry(.attempts(5)))
        #expect(implicit.problems().isEmpty && implicit.retryBudget != nil)
    }

    @Test("Interceptors without a budget share one, in any order, placed or not; two that are named stay a problem")
    func sharing() {
        let budget = RetryBudget()
        let pipelines: [Pipeline] = [
            [.retry(), .hedging(after: .seconds(1))], Pipeline.standard.adding(.hedging(after: .seconds(1))),
            Pipeline.empty.adding(.hedging(after: .seconds(1))).adding(.retry(), at: .retry, changesPrincipal: false),
            Pipeline.standard.adding(.hedging(after: .seconds(1), budget: budget)),
            [.retry(budget: budget), .hedging(after: .seconds(1))],
        ]
        for pipeline in pipelines {
            #expect(Self.budgets(pipeline).count == 1 && pipeline.problems().isEmpty, "\(pipeline)")
        }
        #expect(pipelines[3].retryBudget === budget && pipelines[4].retryBudget === budget)
        let two: Pipeline = [.retry(budget: RetryBudget()), .hedging(after: .seconds(1), budget: budget)]
        #expect(two.problems().contains { $0.contains("the same RetryBudget") })
        #expect(Pipeline.empty.retryBudget == nil)
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

    @Test("What must not stand twice is a problem, once", arguments: twice)
    func surplus(pipeline: Pipeline, text: String) {
        let found = pipeline.problems().filter { $0.contains(text) }
        #expect(found.count == 1 && found.first?.contains("replacing(_:)") == true, "\(pipeline.problems())")
    }

    @Test("Breakers of several scopes and limits stand together")
    func together() {
        let pipeline = Pipeline.standard.adding(.circuitBreaker()).adding(.circuitBreaker(per: .route))
            .adding(.rateLimit(10, every: .seconds(1))).adding(.rateLimit(1000, every: .seconds(3600)))
            .adding(.concurrencyLimit(8)).adding(.concurrencyLimit(2, per: .route))
        #expect(pipeline.problems().isEmpty, "\(pipeline.problems())")
    }
}
