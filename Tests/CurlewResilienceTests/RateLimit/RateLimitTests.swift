// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore
@testable import CurlewResilience

/// The rate limit in a chain, on a clock that stands still.
@Suite(.timeLimit(.minutes(1)))
struct RateLimitTests {
    let clock = ManualClock()
    let sent = Locked<[String]>([])

    /// Sends one request through `limit`; its path is noted when it gets there.
    func send(
        _ limit: RateLimit, _ path: String = "/", host: String = "a.test", priority: RequestOptions.Priority? = nil,
        total: Duration? = nil, route: String = "", answer: HTTPResponse = .status(200)
    ) async throws -> HTTPResponse {
        var options = RequestOptions()
        options.priority = priority
        let context = ExchangeContext(
            routeName: route, options: options, timeouts: Timeouts(total: total), time: clock)
        let sent = sent
        let next = Next(context: context) { request, _ in
            sent.withLock { $0.append(request.target) }
            return answer
        }
        return try await RateLimitInterceptor(limit: limit).intercept(
            HTTPRequest(url: "https://\(host)\(path)"), next: next)
    }

    /// Begins a call and returns when it waits.
    func waiting(
        _ limit: RateLimit, _ path: String, priority: RequestOptions.Priority? = nil, total: Duration? = nil
    ) async throws -> Task<HTTPResponse, any Error> {
        let count = limit.waitingCount
        let call = Task { try await send(limit, path, priority: priority, total: total) }
        try await yieldUntil { limit.waitingCount != count }
        return call
    }

    var paths: [String] { sent.withLock { $0 } }

    @Test("A burst is sent at once, the others each at their moment and not before")
    func exact() async throws {
        let limit = RateLimit(4, every: .seconds(1), burst: 2)
        for path in ["/1", "/2"] { _ = try await send(limit, path) }
        var calls: [Task<HTTPResponse, any Error>] = []
        for number in 3...6 { calls.append(try await waiting(limit, "/\(number)")) }
        for number in 3...6 {
            try await clock.waitForSleepers(1, .all)
            #expect(paths.count == number - 1)
            #expect(clock.advanceToNextSleeper() == .milliseconds(250))
            _ = try await calls[number - 3].value
        }
        #expect(paths == (1...6).map { "/\($0)" })
    }

    @Test("Calls are served by priority, then order; the longest waiting one every eighth time")
    func fairness() async throws {
        let limit = RateLimit(1, every: .seconds(1), burst: 1)
        _ = try await send(limit, "/0")
        var calls = [try await waiting(limit, "/low", priority: .low), try await waiting(limit, "/n1")]
        calls.append(try await waiting(limit, "/n2"))
        for number in 1...9 { calls.append(try await waiting(limit, "/h\(number)", priority: .high)) }
        for count in 2...13 {
            try await clock.waitForSleepers(1, .all)
            clock.advance(by: .seconds(1))
            try await yieldUntil { paths.count >= count }
        }
        let order = ["/0"] + (1...7).map { "/h\($0)" } + ["/low", "/h8", "/h9", "/n1", "/n2"]
        #expect(paths == order)
        for call in calls { _ = try await call.value }
    }

    @Test("A call whose token comes too late fails at once and reports when one is due")
    func tooLate() async throws {
        let limit = RateLimit(1, every: .seconds(2))
        _ = try await send(limit)
        let first = try await waiting(limit, "/first", total: .milliseconds(2001))
        for total in [Duration.milliseconds(100), .seconds(4)] {
            let error = await #expect(throws: NetworkError.self) { try await send(limit, total: total) }
            #expect(error?.reason == .refused(by: .rateLimit))
            #expect(error?.retryAfter == .seconds(4) && error?.isRetryable == true)
        }
        try await clock.waitForSleepers(2, .all)
        clock.advance(by: .seconds(2))
        _ = try await first.value
        #expect(paths == ["/", "/first"])
    }

    @Test("Calls beyond the queue's length are refused")
    func full() async throws {
        let limit = RateLimit(1, every: .seconds(1), waiting: 2)
        _ = try await send(limit)
        let calls = [try await waiting(limit, "/1"), try await waiting(limit, "/2")]
        let error = await #expect(throws: NetworkError.self) { try await send(limit) }
        #expect(error?.reason == .refused(by: .rateLimit) && error?.retryAfter == .seconds(3))
        #expect(
            error?.detail.contains("2 calls already wait") == true && error?.detail.contains("https://a.test") == true)
        for call in calls { call.cancel() }
        for call in calls { await #expect(throws: CancellationError.self) { try await call.value } }
        #expect(limit.waitingCount == 0)
    }

    @Test("A cancelled call leaves at once, and those behind move up")
    func cancellation() async throws {
        let limit = RateLimit(1, every: .seconds(1))
        _ = try await send(limit)
        let (first, second) = (try await waiting(limit, "/1"), try await waiting(limit, "/2"))
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        try await clock.waitForSleepers(1, .all)
        clock.advance(by: .seconds(1))
        _ = try await second.value
        #expect(paths == ["/", "/2"])
    }

    @Test("The deadline of a waiting call that urgent ones passed is kept")
    func passedByUrgent() async throws {
        let limit = RateLimit(1, every: .seconds(1))
        _ = try await send(limit)
        let slow = try await waiting(limit, "/slow", priority: .low, total: .milliseconds(1500))
        let urgent = try await waiting(limit, "/urgent", priority: .high)
        try await clock.waitForSleepers(2, .all)
        clock.advance(by: .seconds(1))
        _ = try await urgent.value
        clock.advance(by: .milliseconds(500))
        #expect(await failureReason { try await slow.value } == .timedOut(.queue))
        #expect(paths == ["/", "/urgent"])
    }

    @Test(
        "A response that asks for less pauses the scope, at most for the limit's maximum",
        arguments: [
            (429, ["Retry-After": "7"], 7), (503, ["Retry-After": "7"], 7), (429, ["Retry-After": "86400"], 60),
            (429, ["Retry-After": "Mon, 01 Jan 2001 00:00:09 GMT"], 9), (200, ["Retry-After": "7"], nil),
            (200, ["RateLimit": #""a";r=0;t=12"#], 12), (429, ["X-RateLimit-Remaining": "0"], 1),
            (200, ["RateLimit": #""a";r=3;t=12"#], nil), (429, [:], nil),
        ] as [(Int, [String: String], Int?)])
    func learning(code: Int, fields: [String: String], pause: Int?) async throws {
        let limit = RateLimit(10, every: .seconds(10))
        var headers = HTTPHeaders()
        for (name, value) in fields { headers[HTTPField.Name(name)] = value }
        _ = try await send(limit, "/1", answer: .status(HTTPStatus(code), headers: headers))
        _ = try await send(limit, "/other", host: "b.test")
        guard let pause else {
            _ = try await send(limit, "/2")
            return
        }
        let (call, next) = (try await waiting(limit, "/2"), try await waiting(limit, "/3"))
        try await clock.waitForSleepers(1, .all)
        clock.advance(by: .seconds(pause) - .nanoseconds(1))
        #expect(paths.count == 2)
        clock.advance(by: .nanoseconds(1))
        _ = try await call.value
        #expect(paths.last == "/2", "one at the end of the pause, and no burst")
        try await clock.waitForSleepers(1, .all)
        clock.advance(by: .seconds(1))
        _ = try await next.value
    }

    @Test("The remainder of a quota is not exceeded")
    func quota() async throws {
        let limit = RateLimit(10, every: .seconds(10))
        _ = try await send(limit, "/1", answer: .status(200, headers: ["RateLimit": #""a";r=2;t=10"#]))
        for path in ["/2", "/3"] { _ = try await send(limit, path) }
        let fourth = try await waiting(limit, "/4")
        try await clock.waitForSleepers(1, .all)
        #expect(clock.advanceToNextSleeper() == .seconds(1))
        _ = try await fourth.value
    }

    @Test("A pause beyond the deadline of waiting calls fails them at once")
    func hopeless() async throws {
        let limit = RateLimit(2, every: .seconds(2), burst: 2)
        let answer = HTTPResponse.status(429, headers: ["Retry-After": "30"])
        _ = try await send(limit)
        let started = SharedResult<Void>()
        let release = SharedResult<Void>()
        let context = ExchangeContext(time: clock)
        let busy = Task {
            try await RateLimitInterceptor(limit: limit).intercept(
                HTTPRequest(url: "https://a.test/busy"),
                next: Next(context: context) { _, _ in
                    started.finish(.success(()))
                    try await release.wait()
                    return answer
                })
        }
        try await started.wait()
        let (short, long) = (
            try await waiting(limit, "/short", total: .seconds(10)),
            try await waiting(limit, "/long", total: .seconds(100))
        )
        release.finish(.success(()))
        _ = try await busy.value
        let error = await #expect(throws: NetworkError.self) { try await short.value }
        #expect(error?.reason == .refused(by: .rateLimit) && error?.retryAfter == .seconds(30))
        #expect(limit.waitingCount == 1)
        clock.advance(by: .seconds(1))
        try await clock.waitForSleepers(2, .all)
        clock.advance(by: .seconds(29))
        _ = try await long.value
    }

    @Test("A scope is one for all, or one for each origin, route or key")
    func scopes() async throws {
        func goes(_ limit: RateLimit, _ host: String, _ route: String) async -> Bool {
            (try? await send(limit, host: host, total: .milliseconds(1), route: route)) != nil
        }
        let calls = [("a.test", "x"), ("a.test", "y"), ("b.test", "x"), ("a.test", "x")]
        let expected: [(LimitScope, [Bool])] = [
            (.all, [true, false, false, false]), (.origin, [true, false, true, false]),
            (.route, [true, true, false, false]),
            (.key { request, context in request.origin.host + context.routeName }, [true, true, true, false]),
        ]
        for (scope, outcome) in expected {
            let limit = RateLimit(1, every: .seconds(60), per: scope)
            var seen: [Bool] = []
            for (host, route) in calls { seen.append(await goes(limit, host, route)) }
            #expect(seen == outcome, "\(scope)")
        }
    }

    @Test("On the system's clock no token comes early either")
    func realTime() async throws {
        let limit = RateLimit(250, every: .seconds(1), burst: 1)
        let moments = Locked<[SystemTime.Instant]>([])
        let next = Next(context: ExchangeContext()) { _, _ in
            moments.withLock { $0.append(SystemTime().now) }
            return .status(200)
        }
        let request = try HTTPRequest(url: "https://a.test/")
        let first = SystemTime().now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<10 {
                group.addTask { _ = try await RateLimitInterceptor(limit: limit).intercept(request, next: next) }
            }
            try await group.waitForAll()
        }
        for (number, moment) in moments.withLock({ $0.sorted() }).enumerated() {
            #expect(first.duration(to: moment) >= .milliseconds(4 * number), "number \(number)")
        }
    }

    @Test("A pace that cannot work is a problem of the pipeline")
    func problems() {
        for limit in [RateLimit(0, every: .seconds(1)), RateLimit(1, every: .zero)] {
            #expect(Pipeline([.rateLimit(limit)]).problems().count == 1)
        }
        let pipeline = Pipeline([.rateLimit(10, every: .seconds(1))])
        #expect(pipeline.problems().isEmpty)
        #expect(pipeline.description == "RateLimit(10 in 1 s per origin) → transport")
    }
}
