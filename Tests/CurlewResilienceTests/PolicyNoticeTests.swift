// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore
@testable import CurlewResilience

/// What observers of a client receive about its policies.
@Suite(.timeLimit(.minutes(1)))
struct PolicyNoticeTests {
    let notices = FallbackTests.Notices()
    let clock = ManualClock.skippingWaits

    var texts: [String] { notices.all.withLock { $0.map { "\($0)" } } }

    func client(_ pipeline: Pipeline, _ status: HTTPStatus = .ok) -> APIClient {
        .mock(
            baseURL: "https://a.test", pipeline: pipeline,
            configuration: APIClient.Configuration(observers: [notices], time: clock)
        ) { $0.onAny { _ in .status(status) } }
    }

    @Test("Waits and refusals of a rate limit are reported")
    func rateLimit() async throws {
        let client = client([.rateLimit(RateLimit(1, every: .seconds(2), per: .route))])
        for _ in 0..<2 { try await client.send(Request<Void>.get("/").name("Ping")) }
        let short = Request<Void>.get("/").name("Ping").options { $0.timeouts = Timeouts(total: .seconds(1)) }
        _ = try? await client.send(short)
        #expect(
            texts == [
                "waited 2 s in the queue of Ping",
                "refused for Ping: The next token is due only after the deadline of the call: "
                    + "the limit for Ping is 1 in 2 s.",
            ])
    }

    @Test("Refusals of a concurrency limit are reported")
    func concurrency() async throws {
        let limit = ConcurrencyLimit(1, waiting: 0)
        let client = client([.concurrencyLimit(limit)])
        let origin = try #require(client.baseURL?.origin)
        try await limit.acquire(.origin(origin), ExchangeContext())
        _ = try? await client.send(Request<Void>.get("/"))
        #expect(texts.first?.hasPrefix("refused for https://a.test: 0 calls already wait for a permit") == true)
        #expect(notices.all.withLock { $0.first?.policy } == .concurrencyLimit)
    }

    @Test("An empty budget of retries and of hedging is reported")
    func budget() async throws {
        let empty = RetryBudget(capacity: 0)
        _ = try? await client([.retry(budget: empty)], .serviceUnavailable).send(Request<Void>.get("/"))
        #expect(texts == ["the retry budget of https://a.test is empty: no further attempt"])
        #expect(notices.all.withLock { $0.map(\.policy) } == [.retry])
    }

    @Test("Calls without obstacles report nothing")
    func quiet() async throws {
        // On a clock that stands still: one that skips waits would be moved by the timers of hedging.
        let client = APIClient.mock(
            pipeline: .resilient(hedging: .seconds(1), rateLimit: RateLimit(10, every: .seconds(1))),
            configuration: .init(observers: [notices], time: ManualClock())
        ) { $0.onAny { _ in .status(200) } }
        for _ in 0..<5 { try await client.send(Request<Void>.get("/")) }
        #expect(texts.isEmpty)
    }
}
