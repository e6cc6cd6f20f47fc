// SPDX-License-Identifier: MIT

import CurlewHTTP
import CurlewTesting
import Foundation
import Testing

@testable import CurlewCore
@testable import CurlewResilience

/// The breaker in a client.
@Suite(.timeLimit(.minutes(1)))
struct CircuitBreakerTests {
    let clock = ManualClock()
    let breaker = CircuitBreaker(CircuitBreaker.Policy(minimumCalls: 4, origins: 3))
    let server = Locked<Result<HTTPResponse, NetworkError>>(.success(.status(200)))

    var client: APIClient {
        let server = server
        let mock = MockTransport.answering { _ in try server.withLock { $0 }.get() }
        return .mock(
            mock, pipeline: [.circuitBreaker(breaker)], configuration: APIClient.Configuration(time: clock))
    }

    func origin(_ text: String) throws -> Origin {
        try #require(Origin(scheme: "https", host: text))
    }

    /// Calls until the circuit is open or `most` were made. Gives how many.
    @discardableResult
    func exhaust(_ host: String = "a.test", most: Int = 10) async -> Int {
        for number in 1...most {
            let error = await failure { () throws(NetworkError) in
                try await client.send(Request<Void>.get(url: "https://\(host)/"))
            }
            if error?.reason == .refused(by: .circuitBreaker) { return number - 1 }
        }
        return most
    }

    @Test("An origin that keeps failing is not asked any more, and the error says when it will be")
    func opens() async throws {
        server.withLock { $0 = .success(.status(503)) }
        #expect(await exhaust() == 4)
        let error = await failure { () throws(NetworkError) in
            try await client.send(Request<Void>.get(url: "https://a.test/x"))
        }
        let wait = try #require(error?.retryAfter)
        #expect(wait > .milliseconds(2400) && wait <= .seconds(5))
        #expect(error?.isRetryable == true)
        #expect(error?.description.contains("https://a.test is open: 4 of 4 calls failed in 30 s") == true)
        #expect(error?.message == "The service is not available right now.")
        #expect(error?.recoverySuggestion?.contains("Try again in") == true)
        // Another origin has its own circuit.
        #expect(await exhaust("b.test", most: 2) == 2)
        // And the first is tried again.
        clock.advance(by: wait)
        server.withLock { $0 = .success(.status(200)) }
        #expect(await exhaust() == 10)
        #expect(breaker.phase(of: try origin("a.test")) == .closed)
    }

    static let failures: [(NetworkError.Reason, Bool)] = [
        (.unreachable, true), (.timedOut(.connect), true), (.timedOut(.firstByte), true), (.timedOut(.attempt), true),
        (.timedOut(.queue), false), (.connectionLost(.requestMayHaveArrived), true), (.badResponse, true),
        (.proxyFailed(.unreachable), true), (.cancelled, false),
        (.secureConnectionFailed(.expired), false), (.secureConnectionFailed(.pinMismatch), false),
        (.notAuthenticated(.missingCredential), false), (.limitExceeded(.responseBody), false),
        (.refused(by: .rateLimit), false), (.refused(by: .concurrencyLimit), false), (.refused(by: .mock), false),
        (.interceptor, false), (.invalidRequest, false),
    ]

    @Test("What counts as a failure of the server, and what does not", arguments: failures)
    func errors(reason: NetworkError.Reason, counts: Bool) async {
        server.withLock { $0 = .failure(NetworkError(reason)) }
        #expect(await exhaust() == (counts ? 4 : 10))
    }

    @Test(
        "Statuses from 500 on count but 501, the client's own mistakes do not",
        arguments: [
            (200, false), (304, false), (400, false), (404, false), (408, false), (429, false), (500, true),
            (501, false), (502, true), (503, true), (504, true), (599, true),
        ])
    func statuses(code: Int, counts: Bool) async {
        server.withLock { $0 = .success(.status(HTTPStatus(code))) }
        #expect(await exhaust() == (counts ? 4 : 10))
    }

    @Test("429 counts when the policy says so; a machine that is offline opens nothing")
    func choices() async throws {
        let strict = CircuitBreaker(CircuitBreaker.Policy(minimumCalls: 1, countsTooManyRequests: true))
        let next = Next(context: ExchangeContext(time: clock)) { _, _ in .status(429) }
        let request = try HTTPRequest(url: "https://a.test/")
        _ = try await CircuitBreakerInterceptor(strict).intercept(request, next: next)
        #expect(strict.openCircuits.count == 1)
        let offline = NetworkError.TransportFailure(engine: "test", code: 7, message: "no route", systemError: 101)
        server.withLock { $0 = .failure(NetworkError(.unreachable, underlying: offline)) }
        #expect(await exhaust() == 10)
    }

    @Test("A trial that is cancelled does not wedge the circuit")
    func cancelledTrial() async throws {
        server.withLock { $0 = .failure(NetworkError(.unreachable)) }
        await exhaust()
        clock.advance(by: .seconds(5))
        let (breaker, clock) = (breaker, clock)
        let request = try HTTPRequest(url: "https://a.test/")
        let begun = SharedResult<Void>()
        let hanging = Next(context: ExchangeContext(time: clock)) { _, _ in
            begun.finish(.success(()))
            try await waitForCancellation()
            return .status(200)
        }
        let trial = Task { try await CircuitBreakerInterceptor(breaker).intercept(request, next: hanging) }
        try await begun.wait()
        #expect(await exhaust() == 0, "one trial at a time")
        trial.cancel()
        _ = await trial.result
        server.withLock { $0 = .success(.status(200)) }
        #expect(await exhaust() == 10)
    }

    @Test("Isolating, resetting, and watching")
    func byHand() async throws {
        let (a, b) = (try origin("a.test"), try origin("b.test"))
        var changes = breaker.changes().makeAsyncIterator()
        breaker.isolate(a)
        let first = await changes.next()
        #expect(first?.origin == a && first?.from == .closed && first?.to == .isolated)
        #expect(await exhaust() == 0)
        clock.advance(by: .seconds(10_000))
        #expect(await exhaust() == 0)
        let error = await failure { () throws(NetworkError) in
            try await client.send(Request<Void>.get(url: "https://a.test/"))
        }
        #expect(error?.retryAfter == nil && error?.detail.contains("the app isolated it") == true)
        server.withLock { $0 = .failure(NetworkError(.unreachable)) }
        await exhaust("b.test")
        let second = await changes.next()
        #expect(second?.origin == b && second?.cause == "4 of 4 calls failed in 30 s")
        #expect(Set(breaker.openCircuits.keys) == [.origin(a), .origin(b)])
        breaker.reset(b)
        let third = await changes.next()
        #expect(third?.origin == b && third?.to == .closed && third?.cause == "the app reset it")
        breaker.reset()
        #expect(await changes.next()?.origin == a)
        #expect(breaker.openCircuits.isEmpty)
    }

    @Test("The stream of changes ends with the breaker")
    func streamEnd() async {
        let changes = CircuitBreaker().changes()
        for await _ in changes { Issue.record("nothing happened") }
    }

    @Test("Origins beyond the bound make room: closed ones first, isolated ones never")
    func bound() async throws {
        breaker.isolate(try origin("isolated.test"))
        server.withLock { $0 = .failure(NetworkError(.unreachable)) }
        await exhaust("open.test")
        server.withLock { $0 = .success(.status(200)) }
        for number in 0..<20 { await exhaust("host\(number).test", most: 1) }
        #expect(breaker.phase(of: try origin("isolated.test")) == .isolated)
        #expect(await exhaust("open.test", most: 1) == 0)
    }

    @Test("Waits for limits further in do not make a call slow")
    func waits() async throws {
        let breaker = CircuitBreaker(CircuitBreaker.Policy(minimumCalls: 1, slowCall: .seconds(1)))
        let limit = RateLimit(1, every: .seconds(10))
        let clock = clock
        let client = APIClient.mock(
            pipeline: [.circuitBreaker(breaker), .rateLimit(limit)],
            configuration: APIClient.Configuration(time: clock)
        ) { $0.onAny { _ in .status(200) } }
        try await client.send(Request<Void>.get("/"))
        let second = Task { try await client.send(Request<HTTPResponse>.get("/")) }
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(10))
        let response = try await second.value
        #expect(response.metrics.queue == .seconds(10))
        #expect(response.attempts.last?.notes == ["waited 10 s for a token"])
        #expect(breaker.openCircuits.isEmpty)
    }

    @Test("A policy that cannot work is a problem of the pipeline")
    func problems() {
        let bad: [CircuitBreaker.Policy] = [
            CircuitBreaker.Policy(failureRatio: 0), CircuitBreaker.Policy(failureRatio: 1.5),
            CircuitBreaker.Policy(failureRatio: .nan),
            CircuitBreaker.Policy(slowRatio: -1), CircuitBreaker.Policy(minimumCalls: 0),
            CircuitBreaker.Policy(window: .zero),
            CircuitBreaker.Policy(openTime: .zero), CircuitBreaker.Policy(openGrowth: 0.5),
            CircuitBreaker.Policy(origins: 0),
        ]
        for policy in bad {
            let pipeline = Pipeline([.circuitBreaker(policy)])
            #expect(pipeline.problems().count == 1 && pipeline.description.hasPrefix("CircuitBreaker("), "\(policy)")
        }
        #expect(Pipeline([.circuitBreaker()]).problems().isEmpty)
        #expect(Pipeline([.circuitBreaker()]).description == "CircuitBreaker(50 % of 20 in 30 s) → transport")
    }
}
