// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore

/// What the history of a call says, over redirects, beside notes of others, and for observers.
@Suite(.timeLimit(.minutes(1)))
struct RetryHistoryTests {
    let bench = RetryBench()

    @Test("A call that succeeds at once has one attempt, created on access")
    func once() async throws {
        let client = bench.client { $0.onAny { _ in .status(200) } }
        let response = try await client.response(for: Request<HTTPResponse>(.get, "/"))
        #expect(response.value.history == nil)
        #expect(response.attempts == [NetworkError.Attempt(number: 1, duration: .zero, outcome: .status(200))])
        let error = await failure { () throws(NetworkError) in
            try await bench.client { $0.onAny { _ in .status(404) } }.send(Request<Void>.get("/"))
        }
        #expect(error?.attempts == [NetworkError.Attempt(number: 1, duration: .zero, outcome: .status(404))])
        #expect(error?.description.contains("attempt") == false, "there is nothing to tell")
    }

    @Test("The history continues over redirects, also when nothing had to be retried after one")
    func redirects() async throws {
        let first = RetryBench.answers([.success(.status(503)), .success(.status(302, headers: [.location: "/b"]))])
        let second = RetryBench.answers([.failure(RetryBench.lost), .success(.status(302, headers: [.location: "/c"]))])
        let client = bench.client(around: [.redirects()]) {
            $0.on(.get, "/a", delay: .seconds(1), first)
            $0.on(.get, "/b", delay: .seconds(1), second)
            $0.on(.get, "/c", .status(200))
        }
        let (result, waits) = try await bench.waits(of: client, Request<HTTPResponse>(.get, "/a"))
        #expect(waits.count == 6)
        let attempts = try result.get().attempts
        #expect(attempts.map(\.number) == [1, 2, 3, 4, 5])
        #expect(attempts.map(\.hop) == [0, 0, 1, 1, 2])
        #expect(
            attempts.map { "\($0.outcome)" } == [
                "status 503", "status 302", "connectionLost requestMayHaveArrived", "status 302", "status 200",
            ])
        #expect(attempts.map(\.start) == [0, 1050, 2050, 3100, 4100].map { .milliseconds($0) })
        #expect(attempts[3].decision == .finish(because: .final))
    }

    @Test("An error after a redirect has the attempts before it too, with a retry and without")
    func redirectThenFailure() async throws {
        func stubs(_ mock: MockTransport) {
            mock.on(.post, "/a", .status(307, headers: [.location: "/b"]))
            mock.on(.post, "/b") { _ -> HTTPResponse in throw RetryBench.lost }
        }
        let lost = NetworkError.Attempt.Outcome.failed(RetryBench.lost.reason)
        for client in [bench.client(around: [.redirects()], stubs), .mock(pipeline: [.redirects()], stubs)] {
            let error = await client.failure(Request<Void>.post("/a"))
            #expect(error?.reason == RetryBench.lost.reason)
            let outcomes = error?.attempts.map(\.outcome)
            #expect(outcomes == (client.pipeline.entries.count > 1 ? [.status(307), lost] : [.status(307)]))
        }
        let refused = bench.client(around: [.redirects(.sameOrigin)]) {
            $0.onAny(
                RetryBench.answers([.success(.status(503)), .success(.status(302, headers: [.location: "//b.test/"]))]))
        }
        let (result, _) = try await bench.waits(of: refused, Request<Void>.get("/"))
        let error = #expect(throws: NetworkError.self) { try result.get() }
        #expect(error?.attempts.map(\.outcome) == [.status(503), .status(302)])
    }

    @Test("A request that never arrived is sent again without being counted or paid for")
    func uncounted() async throws {
        let budget = RetryBudget()
        let client = bench.client(.attempts(2), budget: budget) {
            $0.onAny(
                RetryBench.answers([
                    .failure(RetryBench.notSent), .success(.status(503)), .failure(RetryBench.notSent),
                    .success(.status(200)),
                ]))
        }
        let (result, waits) = try await bench.waits(of: client, Request<HTTPResponse>(.get, "/"))
        #expect(waits == [.milliseconds(50), .milliseconds(50)])
        #expect(try result.get().attempts.map(\.decision.cause) == [.notReceived, .transient, .notReceived, .final])
        #expect(budget.tokens(for: try #require(client.baseURL?.origin)) == 500)
    }

    @Test("A call that waits for connectivity ends with a route or its bound, and pays nothing")
    func connectivity() async throws {
        let policy = RetryPolicy.waitingForConnectivity(upTo: .seconds(30))
        let budget = RetryBudget(capacity: 0)
        let away = NetworkError(
            .unreachable, underlying: NetworkError.TransportFailure(engine: "test", code: 6, message: "no such name"))
        let failures = [Result<HTTPResponse, NetworkError>](repeating: .failure(away), count: 6)
        let client = bench.client(policy, budget: budget) {
            $0.onAny(RetryBench.answers(failures + [.success(.status(200))]))
        }
        let (result, waits) = try await bench.waits(of: client, Request<HTTPResponse>(.post, "/"))
        #expect(waits == [50, 100, 200, 400, 800, 1600].map { .milliseconds($0) })
        #expect(
            try result.get().attempts.map(\.decision.cause) == [NetworkError.Attempt.Cause](
                repeating: .offline, count: 6) + [.final]
        )

        let offline = bench.client(policy, budget: budget) { $0.onAny { _ in throw away } }
        let (ended, all) = try await bench.waits(of: offline, Request<HTTPResponse>(.get, "/"))
        #expect(all.reduce(.zero, +) <= .seconds(30))
        let error = #expect(throws: NetworkError.self) { try ended.get() }
        #expect(error?.attempts.last?.decision.cause == .budgetExhausted)
    }

    @Test("A server that refuses connections is not waited for as if there were no network")
    func refusedConnections() async throws {
        let cause = NetworkError.TransportFailure(
            engine: "test", code: 7, message: "refused", systemError: ECONNREFUSED)
        let client = bench.client(.waitingForConnectivity(upTo: .seconds(30)), budget: RetryBudget()) {
            $0.onAny { _ in throw NetworkError(.unreachable, underlying: cause) }
        }
        let (ended, waits) = try await bench.waits(of: client, Request<HTTPResponse>(.get, "/"))
        #expect(waits.count == 2)
        let error = #expect(throws: NetworkError.self) { try ended.get() }
        #expect(error?.attempts.map(\.decision.cause) == [.transient, .transient, .attemptsExhausted(3)])
    }

    @Test("Observers receive each attempt that did not succeed, before the wait")
    func observers() async throws {
        let log = EventLog { event, _ -> String? in if case .tried(let attempt) = event { "\(attempt)" } else { nil } }
        let client = bench.client(.attempts(2), observers: [log]) { $0.onAny { _ in .status(500) } }
        _ = try await bench.waits(of: client, Request<HTTPResponse>(.get, "/"))
        #expect(
            log.entries == [
                "1: status 500 after 0 µs; retried in 50 ms, because the failure may be temporary",
                "2: status 500 after 0 µs; not retried, because all 2 attempts were made",
            ])
    }

    @Test("Notes of other interceptors about an attempt are in its entry, on responses and errors")
    func notes() async throws {
        struct Slow: Interceptor {
            func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
                do {
                    var response = try await next(request)
                    response.note("waited \(next.context.attempt) ms")
                    return response
                } catch {
                    var failure = NetworkError(error)
                    failure.notes.append("waited in vain")
                    throw failure
                }
            }
        }
        let client = bench.client(inside: [Slow()]) {
            $0.onAny(RetryBench.answers([.success(.status(503)), .failure(RetryBench.lost), .success(.status(200))]))
        }
        let (result, _) = try await bench.waits(of: client, Request<HTTPResponse>(.get, "/"))
        #expect(try result.get().attempts.map(\.notes) == [["waited 1 ms"], ["waited in vain"], ["waited 3 ms"]])
        let quick = bench.client(inside: [Slow()]) { $0.onAny { _ in .status(200) } }
        let attempts = try await quick.response(for: Request<HTTPResponse>(.get, "/")).attempts
        #expect(
            attempts == [
                NetworkError.Attempt(number: 1, duration: .zero, outcome: .status(200), notes: ["waited 1 ms"])
            ])
    }

    @Test("Attempts that an interceptor further in reports are part of the history")
    func inner() async throws {
        struct Twice: Interceptor {
            func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
                var response = try await next(request)
                let past = next.context.pastAttempts
                let count = past.last?.number ?? 0
                response.attempts =
                    past
                    + [1, 2].map {
                        NetworkError.Attempt(number: count + $0, duration: .zero, outcome: .status(response.status))
                    }
                return response
            }
        }
        let client = bench.client(inside: [Twice()]) {
            $0.onAny(RetryBench.answers([.success(.status(503)), .success(.status(200))]))
        }
        let (result, _) = try await bench.waits(of: client, Request<HTTPResponse>(.get, "/"))
        let attempts = try result.get().attempts
        #expect(attempts.map(\.number) == [1, 2, 3, 4])
        #expect(attempts.map(\.decision.cause) == [.final, .transient, .final, .final])
    }

    @Test("A history keeps the last hundred attempts")
    func bounded() async throws {
        let client = bench.client(
            .attempts(150).with { $0.backoff = .constant(.zero) }, budget: RetryBudget(capacity: 9999)
        ) {
            $0.onAny { _ in .status(503) }
        }
        let attempts = try await client.response(for: Request<HTTPResponse>(.get, "/")).attempts
        #expect(attempts.map(\.number) == Array(51...150))
    }
}
