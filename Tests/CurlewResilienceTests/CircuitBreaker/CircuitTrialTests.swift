// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore
@testable import CurlewResilience

/// Several trials, other scopes, and notifications.
@Suite(.timeLimit(.minutes(1)))
struct CircuitTrialTests {
    typealias Bench = CircuitStateTests.Bench

    static func opened(_ policy: CircuitBreaker.Policy) -> Bench {
        var bench = Bench(policy)
        for _ in 0..<policy.minimumCalls { bench.call(.failure) }
        _ = bench.waitUntilTrial()
        return bench
    }

    @Test("One trial runs at a time, and the configured number of successes closes the circuit")
    func several() throws {
        var bench = Self.opened(CircuitBreaker.Policy(minimumCalls: 4, trials: 5))
        for _ in 0..<5 {
            #expect(bench.circuit.phase == .halfOpen || bench.isOpen)
            let admitted = bench.admit()
            let permit = try #require(admitted)
            #expect(bench.admit() == nil)
            bench.finish(permit, CircuitStateTests.quick)
        }
        #expect(bench.circuit.phase == .closed)
    }

    @Test("The first failed trial opens the circuit again, and a replaced trial changes nothing")
    func failure() throws {
        var bench = Self.opened(CircuitBreaker.Policy(minimumCalls: 4, trials: 9))
        bench.call(CircuitStateTests.quick)
        let first = bench.admit()
        bench.now = bench.now.advanced(by: CircuitState.trialTime)
        let second = bench.admit()
        bench.finish(try #require(second), .failure)
        let phase = bench.circuit.phase
        #expect(bench.isOpen)
        bench.finish(try #require(first), CircuitStateTests.quick)
        #expect(bench.circuit.phase == phase)
    }

    @Test(
        "Never more than one trial is in progress, and the circuit never wedges",
        arguments: 0..<100 as Range<UInt64>)
    func life(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let policy = CircuitBreaker.Policy(
            minimumCalls: 3, trials: .random(in: 1...6, using: &random))
        var bench = Self.opened(policy)
        var permits: [(CircuitState.Permit, SystemTime.Instant)] = []
        for _ in 0..<400 {
            switch Int.random(in: 0..<4, using: &random) {
            case 0, 1:
                guard bench.circuit.phase != .closed else { bench.call(.failure, .failure, .failure); continue }
                let former = bench.circuit.phase
                guard let permit = bench.admit() else { continue }
                if former != .halfOpen { permits = [] }
                permits.removeAll { $0.1.duration(to: bench.now) >= CircuitState.trialTime }
                permits.append((permit, bench.now))
                #expect(permits.count == 1, "seed \(seed)")
            case 2:
                guard !permits.isEmpty else { continue }
                let (permit, _) = permits.remove(at: Int.random(in: permits.indices, using: &random))
                let outcome: [CircuitState.Outcome] = [
                    .failure, .unknown, CircuitStateTests.quick, CircuitStateTests.quick,
                ]
                let chosen = outcome.randomElement(using: &random) ?? .unknown
                bench.finish(permit, chosen)
                if bench.circuit.phase != .halfOpen { permits = [] }
            default:
                bench.now = bench.now.advanced(by: .milliseconds(Int.random(in: 0...3000, using: &random)))
            }
        }
        bench.now = bench.now.advanced(by: .seconds(120))
        for _ in 0..<6 { bench.call(CircuitStateTests.quick) }
        #expect(bench.circuit.phase == .closed, "seed \(seed)")
    }

    // In a client.

    let clock = ManualClock()
    let notices = FallbackTests.Notices()

    func client(_ breaker: CircuitBreaker, _ configure: (MockTransport) -> Void) -> APIClient {
        .mock(
            baseURL: "https://a.test", pipeline: [.circuitBreaker(breaker)],
            configuration: .init(observers: [notices], time: clock), configure)
    }

    @Test("With a circuit for each key one failing route leaves the others alone")
    func scope() async throws {
        let breaker = CircuitBreaker(
            CircuitBreaker.Policy(minimumCalls: 2),
            per: .key { request, _ in request.target.hasPrefix("/bad") ? "bad" : "good" })
        let client = client(breaker) { $0.onAny { $0.request.target == "/good" ? .status(204) : .status(500) } }
        for _ in 0..<2 { _ = try? await client.send(Request<Void>.get("/bad")) }
        let error = await TestFixtures.failure { () throws(NetworkError) in
            try await client.send(Request<Void>.get("/bad/2"))
        }
        #expect(
            error?.reason == .refused(by: .circuitBreaker)
                && error?.detail.hasPrefix("The circuit of bad is open") == true)
        try await client.send(Request<Void>.get("/good"))
        #expect(breaker.openCircuits.keys.map { $0 } == [.text("bad")])
        #expect(Pipeline([.circuitBreaker(per: .route)]).description.contains("in 30 s per route"))
    }

    @Test("A failure whose body fails too is one failure")
    func oneFailure() async throws {
        let breaker = CircuitBreaker(CircuitBreaker.Policy(minimumCalls: 4))
        for number in 0..<3 {
            let next = Next(context: ExchangeContext(time: clock)) { _, _ in
                guard number == 0 else { return .status(204) }
                let body = AsyncThrowingStream<Data, any Error> { $0.finish(throwing: NetworkError(.badResponse)) }
                return HTTPResponse(status: 500, body: ResponseBody(body))
            }
            let response = try await CircuitBreakerInterceptor(breaker).intercept(
                HTTPRequest(url: "https://a.test/"), next: next)
            _ = try? await response.data()
        }
        let last = Next(context: ExchangeContext(time: clock)) { _, _ in .status(204) }
        _ = try await CircuitBreakerInterceptor(breaker).intercept(HTTPRequest(url: "https://a.test/"), next: last)
        #expect(breaker.openCircuits.isEmpty, "one of four calls failed, not two")
    }

    @Test("Notices read as sentences: how long, and why, for each phase")
    func texts() async throws {
        let breaker = CircuitBreaker(CircuitBreaker.Policy(minimumCalls: 2))
        let isWell = Locked(false)
        let client = client(breaker) { $0.onAny { _ in isWell.withLock { $0 } ? .status(204) : .status(500) } }
        for _ in 0..<3 { _ = try? await client.send(Request<Void>.get("/")) }
        clock.advance(by: .seconds(5))
        isWell.withLock { $0 = true }
        try await client.send(Request<Void>.get("/"))
        let opened = notices.all.withLock { $0.first?.kind }
        guard case .circuitOpened(let time) = opened else { throw NetworkError(.badResponse) }
        #expect(time > .seconds(2.4) && time <= .seconds(5))
        #expect(
            notices.all.withLock { $0.map { "\($0)" } } == [
                "the circuit of https://a.test opened for \(time.brief): 2 of 2 calls failed in 30 s",
                "refused for https://a.test: 2 of 2 calls failed in 30 s",
                "the circuit of https://a.test is half open",
                "the circuit of https://a.test closed",
            ])
    }
}
