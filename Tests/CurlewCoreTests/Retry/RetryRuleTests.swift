// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore

/// What an app may say about retries: `when:` and `onRetry:`.
@Suite(.timeLimit(.minutes(1)))
struct RetryRuleTests {
    let bench = RetryBench()

    func client(
        _ policy: RetryPolicy = .standard, budget: RetryBudget = RetryBudget(),
        when: (@Sendable (RetryPolicy.AttemptResult) -> RetryPolicy.Verdict)? = nil,
        onRetry: (@Sendable (inout HTTPRequest, RetryPolicy.AttemptResult) async throws -> Void)? = nil,
        _ configure: (MockTransport) -> Void
    ) -> APIClient {
        let retry = RetryInterceptor(policy, budget: budget, when: when, onRetry: onRetry, random: { 0.5 })
        let configuration = APIClient.Configuration(timeouts: Timeouts(total: .seconds(60)), time: bench.clock)
        return .mock(baseURL: "https://a.test", pipeline: [retry], configuration: configuration, configure)
    }

    @Test("A 403 with Retry-After is repeated after that wait only when the app says so")
    func forbidden() async throws {
        let answers = RetryBench.answers([
            .success(.status(403, headers: [.retryAfter: "7"])), .success(.status(204)),
        ])
        let plain = client { $0.onAny { _ in .status(403, headers: [.retryAfter: "7"]) } }
        #expect(try await plain.send(Request<HTTPResponse>(.get, "/")).status == 403)
        #expect(plain.recordedCalls.count == 1)
        let client = client(
            when: { $0.status == .forbidden && $0.headers.contains(.retryAfter) ? .retry : .usual }
        ) { $0.onAny(answers) }
        let (result, waits) = try await bench.waits(of: client, Request<HTTPResponse>(.get, "/"))
        #expect(try result.get().status == 204)
        #expect(waits == [.seconds(7.5)])
        #expect(try result.get().attempts.map(\.decision.cause) == [.serverAsked, .final])
    }

    @Test("Errors in a response of status 200 are repeated; the rule sees body, number and request")
    func graphQL() async throws {
        let seen = Locked<[String]>([])
        let client = client(
            when: { attempt in
                let text = String(decoding: attempt.body ?? Data(), as: UTF8.self)
                seen.withLock { $0.append("\(attempt.number) \(attempt.request.method) \(attempt.routeName) \(text)") }
                return text.hasPrefix(#"{"errors""#) ? .retry : .usual
            }
        ) { $0.onAny(RetryBench.answers([.success(.text(#"{"errors":[]}"#)), .success(.text(#"{"data":1}"#))])) }
        let call = Request<String>.post("/graphql").name("Films").options { $0.isIdempotent = true }
        let (result, waits) = try await bench.waits(of: client, call)
        #expect(try result.get().value == #"{"data":1}"#)
        #expect(waits == [.milliseconds(50)])
        #expect(seen.withLock { $0 } == [#"1 POST Films {"errors":[]}"#, #"2 POST Films {"data":1}"#])
        #expect(try result.get().attempts.map(\.decision.cause) == [.appRule, .final])
    }

    @Test("A rule repeats nothing unsafe, unless it says that nothing has happened")
    func notIdempotent() async throws {
        for (verdict, count) in [(RetryPolicy.Verdict.retry, 1), (.retryUnprocessed, 3)] {
            let client = client(when: { _ in verdict }) { $0.onAny { _ in .status(409) } }
            let (result, _) = try await bench.waits(of: client, Request<HTTPResponse>(.post, "/"))
            #expect(client.recordedCalls.count == count)
            let cause: NetworkError.Attempt.Cause = count == 1 ? .notIdempotent : .attemptsExhausted(3)
            #expect(try result.get().attempts.last?.decision == .finish(because: cause))
        }
    }

    @Test("`.final` ends a repeatable failure; cancellation, TLS and invalid requests stay final")
    func final() async throws {
        let ended = client(when: { _ in .final }) { $0.onAny { _ in .status(503) } }
        let response = try await ended.response(for: Request<HTTPResponse>(.get, "/"))
        #expect(response.attempts.map(\.decision) == [.finish(because: .appRule)])
        for reason: NetworkError.Reason in [
            .cancelled, .secureConnectionFailed(.expired), .secureConnectionFailed(.pinMismatch), .invalidRequest,
            .configuration,
        ] {
            let client = client(when: { _ in .retryUnprocessed }) { $0.onAny { _ in throw NetworkError(reason) } }
            let (result, _) = try await bench.waits(of: client, Request<HTTPResponse>(.get, "/"))
            #expect(throws: NetworkError.self) { try result.get() }
            #expect(client.recordedCalls.count == 1, "\(reason)")
        }
    }

    @Test(
        "A rule keeps to attempts, budget, deadline and veto; options.retry = .never disables it"
    )
    func bounds() async throws {
        let budget = RetryBudget(capacity: 14)
        let paid = client(budget: budget, when: { _ in .retry }) { $0.onAny { _ in .status(400) } }
        let (result, _) = try await bench.waits(of: paid, Request<HTTPResponse>(.get, "/"))
        #expect(try result.get().attempts.map(\.decision.cause) == [.appRule, .budgetExhausted])
        let serverForbids = client(when: { _ in .retry }) {
            $0.onAny { _ in .status(503, headers: ["X-Should-Retry": "false"]) }
        }
        _ = try await serverForbids.send(Request<HTTPResponse>(.get, "/"))
        #expect(serverForbids.recordedCalls.count == 1)
        let never = client(when: { _ in .retry }) { $0.onAny { _ in .status(400) } }
        _ = try await never.send(Request<HTTPResponse>(.get, "/").options { $0.retry = .never })
        #expect(never.recordedCalls.count == 1)
    }

    @Test("A success without a verdict of the rule costs no history and earns its token")
    func usual() async throws {
        let budget = RetryBudget()
        let client = client(budget: budget, when: { _ in .usual }) { $0.onAny { _ in .status(204) } }
        let origin = try #require(client.baseURL?.origin)
        _ = budget.withdraw(for: origin)
        let response = try await client.response(for: Request<HTTPResponse>(.get, "/"))
        #expect(response.value.history == nil)
        #expect(budget.tokens(for: origin) == 487)
    }

    @Test("onRetry changes what is sent next, and what it throws ends the call with the history")
    func change() async throws {
        let client = client(
            onRetry: { request, attempt in request.headers[.idempotencyKey] = "key-\(attempt.number + 1)" }
        ) { $0.onAny { _ in .status(503) } }
        let call = Request<HTTPResponse>(.post, "/").header(.idempotencyKey, "key-1")
        _ = try await bench.waits(of: client, call)
        #expect(client.recordedCalls.map { $0.request.headers[.idempotencyKey] } == ["key-1", "key-2", "key-3"])

        struct Enough: Error {}
        let failing = self.client(onRetry: { _, _ in throw Enough() }) { $0.onAny { _ in .status(503) } }
        let (result, _) = try await bench.waits(of: failing, Request<HTTPResponse>(.get, "/"))
        let error = #expect(throws: NetworkError.self) { try result.get() }
        #expect(error?.underlying is Enough && error?.attempts.map(\.outcome) == [.status(503)])
    }
}
