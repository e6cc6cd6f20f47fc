// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore

@Suite(.timeLimit(.minutes(1)))
struct RetryInterceptorTests {
    let bench = RetryBench()

    @Test("A failure is repeated after exactly the waits of the policy, and the history has them")
    func success() async throws {
        let client = bench.client {
            $0.onAny(
                delay: .seconds(1),
                RetryBench.answers([.success(.status(503)), .failure(RetryBench.lost), .success(.status(200))]))
        }
        let (result, waits) = try await bench.waits(of: client, Request<HTTPResponse>(.get, "/"))
        #expect(waits == [.seconds(1), .milliseconds(50), .seconds(1), .milliseconds(100), .seconds(1)])
        let response = try result.get()
        let expected = [
            NetworkError.Attempt(
                number: 1, duration: .seconds(1), outcome: .status(503),
                decision: .retry(after: .milliseconds(50), because: .transient)),
            NetworkError.Attempt(
                number: 2, start: .milliseconds(1050), duration: .seconds(1),
                outcome: .failed(.connectionLost(.requestMayHaveArrived)),
                decision: .retry(after: .milliseconds(100), because: .transient)),
            NetworkError.Attempt(number: 3, start: .milliseconds(2150), duration: .seconds(1), outcome: .status(200)),
        ]
        #expect(response.attempts == expected)
        #expect(response.value.attempts == expected)
    }

    @Test("The last outcome is the call's, with the history and why it was the last")
    func failure() async throws {
        let statuses = bench.client {
            $0.onAny(RetryBench.answers([.failure(RetryBench.lost), .success(.status(502))]))
        }
        let (answered, _) = try await bench.waits(of: statuses, Request<String>.get("/"))
        let error = #expect(throws: NetworkError.self) { try answered.get() }
        #expect(error?.reason == .status(502))
        #expect(error?.attempts.map(\.outcome) == [.failed(RetryBench.lost.reason), .status(502), .status(502)])
        #expect(error?.attempts.last?.decision == .finish(because: .attemptsExhausted(3)))
        let text = try #require(error?.description)
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("  attempt") }.map(String.init)
        #expect(
            lines == [
                "  attempt   1: connectionLost requestMayHaveArrived after 0 µs; "
                    + "retried in 50 ms, because the failure may be temporary",
                "  attempt   2: status 502 after 0 µs; retried in 100 ms, because the failure may be temporary",
                "  attempt   3: status 502 after 0 µs; not retried, because all 3 attempts were made",
            ])

        let failures = bench.client(.attempts(2)) {
            $0.onAny(RetryBench.answers([.success(.status(500)), .failure(RetryBench.lost)]))
        }
        let (failed, _) = try await bench.waits(of: failures, Request<String>.get("/"))
        let second = #expect(throws: NetworkError.self) { try failed.get() }
        #expect(second?.reason == RetryBench.lost.reason)
        #expect(second?.attempts.map(\.decision.cause) == [.transient, .attemptsExhausted(2)])
    }

    @Test("A call that may not be repeated fails at once and says why")
    func notIdempotent() async throws {
        let client = bench.client { $0.onAny { _ in throw RetryBench.lost } }
        let (result, waits) = try await bench.waits(of: client, Request<String>.post("/"))
        let error = #expect(throws: NetworkError.self) { try result.get() }
        #expect(client.recordedCalls.count == 1 && waits.isEmpty)
        #expect(error?.attempts.map(\.decision) == [.finish(because: .notIdempotent)])
        #expect(error?.description.contains("not retried, because the server may have processed it") == true)
    }

    @Test("Interceptors further in see the number of the attempt and the attempts before it")
    func context() async throws {
        let seen = Locked<[[Int]]>([])
        let client = bench.client {
            $0.onAny { call in
                seen.withLock { $0.append([call.context.attempt, call.context.pastAttempts.count]) }
                return .status(503)
            }
        }
        _ = try await bench.waits(of: client, Request<HTTPResponse>(.get, "/"))
        #expect(seen.withLock { $0 } == [[1, 0], [2, 1], [3, 2]])
    }

    @Test("An empty budget ends the call with its outcome and is reported; success returns tokens")
    func budget() async throws {
        let budget = RetryBudget(capacity: 20)
        let client = bench.client(budget: budget) { $0.onAny { _ in .status(503) } }
        let (result, _) = try await bench.waits(of: client, Request<HTTPResponse>(.get, "/"))
        let response = try result.get()
        #expect(response.attempts.map(\.decision.cause) == [.transient, .budgetExhausted])
        #expect(response.status == 503)
        let origin = try #require(client.baseURL?.origin)
        #expect(budget.tokens(for: origin) == 6)

        let healthy = bench.client(budget: budget) { $0.onAny { _ in .status(404) } }
        for _ in 0..<8 { _ = try await healthy.send(Request<HTTPResponse>(.get, "/")) }
        #expect(budget.tokens(for: origin) == 14, "any answer that does not ask for another try is a success")
        let recovering = bench.client(budget: budget) {
            $0.onAny(RetryBench.answers([.success(.status(503)), .success(.status(200))]))
        }
        let (second, _) = try await bench.waits(of: recovering, Request<HTTPResponse>(.get, "/"))
        #expect(try second.get().attempts.count == 2)
        #expect(budget.tokens(for: origin) == 14, "the repetition that helped is given back")
    }

    @Test("Throttled attempts wait longer, and cost the same")
    func throttled() async throws {
        let budget = RetryBudget()
        let client = bench.client(budget: budget) {
            $0.onAny(
                RetryBench.answers([
                    .success(.status(429)), .success(.status(503, headers: [.retryAfter: "2"])), .success(.status(503)),
                ]))
        }
        let (_, waits) = try await bench.waits(of: client, Request<HTTPResponse>(.get, "/"))
        #expect(waits == [.milliseconds(500), .seconds(3)])
        #expect(budget.tokens(for: try #require(client.baseURL?.origin)) == 472)
    }

    @Test("A wait that would pass the deadline ends the call at once, with the last response")
    func deadline() async throws {
        let client = bench.client(total: .seconds(5)) {
            $0.onAny(delay: .seconds(1)) { _ in .status(503, headers: [.retryAfter: "4"]) }
        }
        let (result, waits) = try await bench.waits(of: client, Request<HTTPResponse>(.get, "/"))
        #expect(waits == [.seconds(1)])
        let response = try result.get()
        #expect(response.status == 503)
        #expect(response.attempts.map(\.decision) == [.finish(because: .deadline(wait: .seconds(4.5)))])
    }

    @Test("All attempts share the deadline of the call")
    func total() async throws {
        let client = bench.client(.attempts(9), total: .milliseconds(2500)) {
            $0.onAny(delay: .seconds(1)) { _ in .status(503) }
        }
        let (result, waits) = try await bench.waits(of: client, Request<HTTPResponse>(.get, "/"))
        #expect(waits == [.seconds(1), .milliseconds(50), .seconds(1), .milliseconds(100), .milliseconds(350)])
        let error = #expect(throws: NetworkError.self) { try result.get() }
        #expect(error?.reason == .timedOut(.total))
        #expect(error?.attempts.count == 3)
        #expect(error?.attempts.last?.decision.cause == .deadline(wait: .milliseconds(200)))
        #expect(error?.detail.contains("The call was not complete within 2.5 s") == true)
    }

    @Test("Cancellation ends a wait at once, and the error has the history")
    func cancellation() async throws {
        let client = bench.client { $0.onAny { _ in .status(503) } }
        let call = Task { try await client.send(Request<HTTPResponse>(.get, "/")) }
        try await bench.clock.waitForSleepers(1)
        call.cancel()
        let error = await #expect(throws: NetworkError.self) { try await call.value }
        #expect(error?.isCancelled == true)
        #expect(error?.attempts.map(\.outcome) == [.status(503)])
        #expect(bench.clock.sleeperCount == 0)
        #expect(client.recordedCalls.count == 1)
    }

    @Test("The body of a response that is not the last is dropped before the wait")
    func bodies() async throws {
        final class Source: ResponseBodySource {
            let isCancelled = Locked(false)
            func next() async throws -> Data? { nil }
            func cancel() { isCancelled.withLock { $0 = true } }
        }
        let source = Source()
        let first = ResponseBody(source, limit: 100, length: nil)
        let client = bench.client {
            $0.onAny(
                RetryBench.answers([
                    .success(HTTPResponse(status: 503, body: first)), .success(.text("done")),
                ]))
        }
        let call = Task { try await client.send(Request<String>.get("/")) }
        try await bench.clock.waitForSleepers(1)
        #expect(source.isCancelled.withLock { $0 })
        bench.clock.advanceToNextSleeper()
        #expect(try await call.value == "done")
        withExtendedLifetime(first) {}
    }

    @Test("A call's own policy counts instead of the client's")
    func options() async throws {
        let client = bench.client { $0.onAny { _ in .status(503) } }
        let never = Request<HTTPResponse>(.get, "/").options { $0.retry = .never }
        #expect(try await client.send(never).status == 503)
        #expect(client.recordedCalls.count == 1)
        let often = Request<HTTPResponse>(.get, "/").options { $0.retry = .attempts(5) }
        let (result, waits) = try await bench.waits(of: client, often)
        #expect(waits == [50, 100, 200, 400].map { .milliseconds($0) })
        #expect(try result.get().attempts.count == 5)
    }
}
