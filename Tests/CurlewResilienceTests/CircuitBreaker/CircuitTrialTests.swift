// SPDX-License-Identifier: MIT

import CurlewHTTP
import CurlewTesting
import Foundation
import Testing

@testable import CurlewCore
@_spi(Simulation) @testable import CurlewResilience

/// Several trials, other scopes, rules of the app, and notifications.
@Suite(.timeLimit(.minutes(1)))
struct CircuitTrialTests {
    typealias Bench = CircuitStateTests.Bench

    static func opened(_ policy: CircuitBreaker.Policy) -> Bench {
        var bench = Bench(policy)
        for _ in 0..<policy.minimumCalls { bench.call(.failure) }
        _ = bench.waitUntilTrial()
        return bench
    }

    @Test("Each success makes room for one more trial, and this many of them close the circuit")
    func ramp() {
        var bench = Self.opened(CircuitBreaker.Policy(minimumCalls: 4, trials: 2, successes: 5))
        var permits = (0..<9).compactMap { _ in bench.admit() }
        var widths = [permits.count]
        while bench.circuit.phase == .halfOpen {
            bench.finish(permits.removeFirst(), CircuitStateTests.quick)
            while bench.circuit.phase == .halfOpen, let permit = bench.admit() { permits.append(permit) }
            if bench.circuit.phase == .halfOpen { widths.append(permits.count) }
        }
        #expect(widths == [2, 3, 4, 5, 6])
        #expect(bench.circuit.phase == .closed && bench.circuit.reason == "5 trials succeeded")
    }

    @Test("As many trials as there are numbers, and a success on top of them")
    func endlessTrials() {
        var bench = Self.opened(CircuitBreaker.Policy(minimumCalls: 4, trials: .max, successes: 2))
        let permits = (0..<3).compactMap { _ in bench.admit() }
        #expect(permits.count == 3)
        bench.finish(permits[0], CircuitStateTests.quick)
        #expect(bench.admit() != nil)
        #expect(bench.circuit.phase == .halfOpen)
        bench.finish(permits[1], CircuitStateTests.quick)
        #expect(bench.circuit.phase == .closed)
    }

    @Test("The first failed trial opens the circuit for longer, whatever the others say then")
    func failure() {
        var bench = Self.opened(CircuitBreaker.Policy(minimumCalls: 4, trials: 3, successes: 9))
        let permits = (0..<3).compactMap { _ in bench.admit() }
        bench.finish(permits[0], CircuitStateTests.quick)
        bench.finish(permits[1], .failure)
        let phase = bench.circuit.phase
        #expect(bench.circuit.openings == 2 && phase != .halfOpen)
        bench.finish(permits[2], CircuitStateTests.quick)
        #expect(bench.circuit.phase == phase)
    }

    @Test("A body that breaks off after its trial's success opens the circuit, half open or closed")
    func brokenBody() {
        for successes in [1, 2] {
            var bench = Self.opened(CircuitBreaker.Policy(minimumCalls: 4, trials: 2, successes: successes))
            let permits = (0..<2).compactMap { _ in bench.admit() }
            for permit in permits.prefix(successes) { bench.finish(permit, CircuitStateTests.quick) }
            #expect(bench.circuit.phase == .closed)
            var half = Self.opened(CircuitBreaker.Policy(minimumCalls: 4, trials: 2, successes: 5))
            guard let permit = half.admit() else {
                Issue.record("no trial")
                return
            }
            half.finish(permit, CircuitStateTests.quick)
            half.circuit.bodyFailed(permit, responded: half.now, at: half.now, using: &half.random)
            bench.circuit.bodyFailed(permits[0], responded: bench.now, at: bench.now, using: &bench.random)
            #expect(bench.circuit.openings == 2 && half.circuit.openings == 2, "\(successes)")
        }
    }

    @Test(
        "Never more trials are in progress than trials and successes allow, and it never wedges",
        arguments: 0..<100 as Range<UInt64>)
    func life(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let policy = CircuitBreaker.Policy(
            minimumCalls: 3, trialTime: .seconds(4), trials: .random(in: 1...4, using: &random),
            successes: .random(in: 1...6, using: &random))
        var bench = Self.opened(policy)
        var (permits, successes): ([(CircuitState.Permit, MonotonicInstant)], Int) = ([], 0)
        for _ in 0..<400 {
            switch Int.random(in: 0..<4, using: &random) {
            case 0, 1:
                guard bench.circuit.phase != .closed else { bench.call(.failure, .failure, .failure); continue }
                let former = bench.circuit.phase
                guard let permit = bench.admit() else { continue }
                if former != .halfOpen { (permits, successes) = ([], 0) }
                permits.removeAll { $0.1.duration(to: bench.now) >= policy.trialTime }
                permits.append((permit, bench.now))
                #expect(permits.count <= policy.trials + successes, "seed \(seed)")
            case 2:
                guard !permits.isEmpty else { continue }
                let (permit, _) = permits.remove(at: Int.random(in: permits.indices, using: &random))
                let outcome: [CircuitState.Outcome] = [
                    .failure, .unknown, CircuitStateTests.quick, CircuitStateTests.quick,
                ]
                let chosen = outcome.randomElement(using: &random) ?? .unknown
                bench.finish(permit, chosen)
                if chosen == CircuitStateTests.quick { successes += 1 }
                if bench.circuit.phase != .halfOpen { (permits, successes) = ([], 0) }
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
            configuration: APIClient.Configuration(observers: [notices], time: clock), configure)
    }

    @Test("A circuit for each key: one failing route leaves the others alone")
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
        breaker.reset(.text("bad"))
        #expect(breaker.phase(of: .text("bad")) == .closed)
        #expect(Pipeline([.circuitBreaker(per: .route)]).description.contains("in 30 s per route"))
    }

    @Test("A rule of the app says what counts; it is not asked about cancellation")
    func counts() async throws {
        func outcome(_ count: CircuitBreaker.Count, _ answer: Result<HTTPResponse, NetworkError>) async -> Bool {
            let breaker = CircuitBreaker(CircuitBreaker.Policy(minimumCalls: 2), counts: { _ in count })
            let client = client(breaker) { $0.onAny { _ in try answer.get() } }
            for _ in 0..<3 { _ = try? await client.send(Request<Void>.get("/")) }
            return !breaker.openCircuits.isEmpty
        }
        let (well, broken) = (
            HTTPResponse.text(#"{"errors":[]}"#), NetworkError(.connectionLost(.requestMayHaveArrived))
        )
        #expect(await outcome(.failure, .success(well)))
        #expect(await outcome(.failure, .failure(NetworkError(.secureConnectionFailed(.expired)))))
        #expect(await !outcome(.success, .success(.status(500))))
        #expect(await !outcome(.success, .failure(broken)))
        #expect(await !outcome(.ignored, .success(.status(500))))
        #expect(await !outcome(.ignored, .failure(broken)))
        #expect(await outcome(.usual, .success(.status(500))))
        #expect(await !outcome(.failure, .failure(NetworkError(.cancelled))))
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

    @Test("Changes and notices read as sentences: how long, and why, for each phase")
    func texts() async throws {
        let breaker = CircuitBreaker(CircuitBreaker.Policy(minimumCalls: 2))
        let isWell = Locked(false)
        let client = client(breaker) { $0.onAny { _ in isWell.withLock { $0 } ? .status(204) : .status(500) } }
        let changes = breaker.changes()
        for _ in 0..<3 { _ = try? await client.send(Request<Void>.get("/")) }
        clock.advance(by: .seconds(5))
        isWell.withLock { $0 = true }
        try await client.send(Request<Void>.get("/"))
        breaker.isolate(.origin(try #require(client.baseURL?.origin)))
        var all: [CircuitBreaker.Change] = []
        for await change in changes {
            all.append(change)
            if all.count == 4 { break }
        }
        let time = try #require(all[0].openFor)
        #expect(time > .seconds(2.4) && time <= .seconds(5))
        #expect(
            all.map { "\($0)" } == [
                "https://a.test: closed → open for \(time.brief), because 2 of 2 calls failed in 30 s",
                "https://a.test: open → half open, because its open period ended",
                "https://a.test: half open → closed, because the trial succeeded",
                "https://a.test: closed → isolated, because the app isolated it",
            ])
        #expect(
            notices.all.withLock { $0.map { "\($0)" } } == [
                "the circuit of https://a.test opened for \(time.brief): 2 of 2 calls failed in 30 s",
                "refused for https://a.test: 2 of 2 calls failed in 30 s",
                "the circuit of https://a.test is half open: its open period ended",
                "the circuit of https://a.test closed: the trial succeeded",
            ])
    }

    @Test("Changes arrive in the order in which they were made, from any task", arguments: 0..<60)
    func order(_ round: Int) async {
        let breaker = CircuitBreaker()
        let changes = breaker.changes()
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<4 {
                group.addTask {
                    for _ in 0..<8 { worker % 2 == 0 ? breaker.isolate(.all) : breaker.reset(.all) }
                }
            }
        }
        breaker.reset()
        breaker.isolate(.text("end"))
        var former = CircuitBreaker.Phase.closed
        for await change in changes {
            if change.scope == .text("end") { break }
            #expect(change.from == former)
            former = change.to
        }
        #expect(former == .closed)
    }
}
