// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore
@testable import CurlewResilience

/// The breaker in a client.
@Suite(.timeLimit(.minutes(1)))
struct CircuitBreakerTests {
    let clock = ManualClock()
    let breaker = CircuitBreaker(CircuitBreaker.Policy(minimumCalls: 4))
    let server = Locked<Result<HTTPResponse, NetworkError>>(.success(.status(200)))

    var client: APIClient {
        let server = server
        let mock = MockTransport.answering { _ in try server.withLock { $0 }.get() }
        return .mock(mock, pipeline: [.circuitBreaker(breaker)], configuration: .init(time: clock))
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

    @Test("An origin that keeps failing gets no calls, and the error says when it will")
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
        #expect(breaker.phase(of: .origin(try origin("a.test"))) == .closed)
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

    @Test("The standard policy counts failures of the server, and no others", arguments: failures)
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

    @Test("A machine that is offline opens nothing")
    func offline() async {
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

    @Test("Origins beyond the bound make room: closed ones first")
    func bound() async throws {
        server.withLock { $0 = .failure(NetworkError(.unreachable)) }
        await exhaust("open.test")
        for number in 0..<3 { await exhaust("failed\(number).test", most: 3) }
        server.withLock { $0 = .success(.status(200)) }
        for number in 0..<300 { await exhaust("host\(number).test", most: 1) }
        server.withLock { $0 = .failure(NetworkError(.unreachable)) }
        #expect(await exhaust("open.test", most: 1) == 0)
        #expect(await exhaust("failed2.test") == 4, "its three failures are forgotten")
    }

    @Test("A wait for a limit further in is noted, and is no failure")
    func waits() async throws {
        let limit = RateLimit(1, every: .seconds(10))
        let (breaker, clock) = (CircuitBreaker(CircuitBreaker.Policy(minimumCalls: 1)), clock)
        let client = APIClient.mock(
            pipeline: [.circuitBreaker(breaker), .rateLimit(limit)],
            configuration: APIClient.Configuration(time: clock)
        ) { $0.onAny { _ in .status(200) } }
        try await client.send(Request<Void>.get("/"))
        let second = Task { try await client.send(Request<HTTPResponse>(.get, "/")) }
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
            CircuitBreaker.Policy(failureRatio: .nan), CircuitBreaker.Policy(minimumCalls: 0),
            CircuitBreaker.Policy(window: .zero), CircuitBreaker.Policy(openTime: .zero),
            CircuitBreaker.Policy(trials: 0),
        ]
        for policy in bad {
            let pipeline = Pipeline([.circuitBreaker(policy)])
            #expect(pipeline.problems().count == 1 && pipeline.description.hasPrefix("CircuitBreaker("), "\(policy)")
        }
        #expect(Pipeline([.circuitBreaker()]).problems().isEmpty)
        #expect(Pipeline([.circuitBreaker()]).description == "CircuitBreaker(50 % of 20 in 30 s) → transport")
    }
}
