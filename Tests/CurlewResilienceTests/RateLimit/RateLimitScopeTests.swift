// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore
@testable import CurlewResilience

/// Many scopes, and the resources of one server.
@Suite(.timeLimit(.minutes(1)))
struct RateLimitScopeTests {
    let bench = RateLimitTests()

    func goes(_ limit: RateLimit, _ path: String = "/", host: String = "a.test", answer: HTTPResponse = .status(200))
        async -> NetworkError?
    {
        do {
            _ = try await bench.send(limit, path, host: host, total: .milliseconds(1), answer: answer)
            return nil
        } catch {
            return NetworkError(error)
        }
    }

    static let exhausted: HTTPHeaders = [
        "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "30", "X-RateLimit-Resource": "search",
    ]

    @Test("1,100 users with ten calls an hour each: each has ten, and none fewer because of others")
    func users() async {
        let limit = RateLimit(10, every: .seconds(3600), per: .key { request, _ in request.target })
        var refused = 0
        for round in 0..<11 {
            for user in 0..<1100 where await goes(limit, "/\(user)") != nil { refused += round < 10 ? 1 : 0 }
        }
        #expect(refused == 0)
        #expect(await goes(limit, "/7")?.reason == .refused(by: .rateLimit))
    }

    @Test("Scopes are bounded: new ones begin, and a paused one is forgotten last")
    func bounded() async {
        let limit = RateLimit(2, every: .seconds(60), per: .key { request, _ in request.target }, scopes: 100)
        let pausing = HTTPResponse.status(429, headers: [.retryAfter: "59"])
        #expect(await goes(limit, "/paused", answer: pausing) == nil)
        for user in 0..<3000 { #expect(await goes(limit, "/\(user)") == nil, "\(user)") }
        #expect(limit.buckets.withLock { $0.known.count } == 100)
        #expect(
            await goes(limit, "/paused")?.reason == .refused(by: .rateLimit), "a pause of one is kept and is its own")
    }

    @Test("A scope with waiting calls is not forgotten")
    func waiting() async throws {
        let limit = RateLimit(1, every: .seconds(60), per: .key { request, _ in request.target }, scopes: 2)
        _ = try await bench.send(limit, "/w")
        let call = try await bench.waiting(limit, "/w")
        for user in 0..<50 { #expect(await goes(limit, "/\(user)") == nil) }
        #expect(limit.waitingCount == 1)
        try await bench.clock.waitForSleepers(1)
        bench.clock.advance(by: .seconds(60))
        _ = try await call.value
    }

    @Test("An exhausted resource stops its routes and no others; the error names it and the time")
    func resources() async throws {
        let limit = RateLimit(100, every: .seconds(1))
        let core: HTTPHeaders = ["X-RateLimit-Remaining": "4999", "X-RateLimit-Resource": "core"]
        #expect(await goes(limit, "/user", answer: .status(200, headers: core)) == nil)
        #expect(await goes(limit, "/search?q=1", answer: .status(200, headers: Self.exhausted)) == nil)
        let error = await goes(limit, "/search?q=2")
        #expect(error?.reason == .refused(by: .rateLimit) && error?.retryAfter == .seconds(30))
        #expect(error?.detail.contains("quota of search is exhausted") == true)
        #expect(await goes(limit, "/user") == nil)
        #expect(await goes(limit, "/new") == nil)
        let later = try await bench.waiting(limit, "/search?q=3")
        try await bench.clock.waitForSleepers(1)
        #expect(bench.clock.advanceToNextSleeper() == .seconds(30))
        _ = try await later.value
        #expect(limit.waitingCount == 0)
    }

    @Test("A wait for a resource ends with cancellation, and the number of waiting calls is bounded")
    func cancelled() async throws {
        let limit = RateLimit(100, every: .seconds(1), waiting: 1)
        #expect(await goes(limit, "/s", answer: .status(200, headers: Self.exhausted)) == nil)
        let call = try await bench.waiting(limit, "/s")
        let error = await #expect(throws: NetworkError.self) { try await bench.send(limit, "/s") }
        #expect(error?.detail.contains("1 calls already wait") == true)
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(limit.waitingCount == 0)
    }

    @Test("Quotas can be ignored; refusals are not")
    func ignoring() async {
        let limit = RateLimit(100, every: .seconds(1), heedsQuotas: false)
        #expect(await goes(limit, answer: .status(200, headers: Self.exhausted)) == nil)
        #expect(await goes(limit, answer: .status(403, headers: [.retryAfter: "9"])) == nil)
        #expect(await goes(limit)?.retryAfter == .seconds(9))
    }

    @Test("GitHub's refusals pause: 403 with Retry-After or an empty quota, and no other 403")
    func github() async {
        let cases: [(HTTPHeaders, Duration?)] = [
            ([.retryAfter: "9"], .seconds(9)),
            (["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "30"], .seconds(30)),
            (["X-RateLimit-Remaining": "10"], nil), ([:], nil),
        ]
        for (headers, wait) in cases {
            let limit = RateLimit(100, every: .seconds(1))
            #expect(await goes(limit, answer: .status(403, headers: headers)) == nil)
            #expect(await goes(limit)?.retryAfter == wait)
        }
    }

    @Test("Names and numbers of a server are bounded")
    func hostile() {
        var resources = RateResources()
        let now = SystemTime.Instant(nanoseconds: 0)
        for number in 0..<5000 {
            resources.learn("r\(number)", of: "/\(number)")
            resources.pause("r\(number)", until: now.advanced(by: .seconds(number)))
        }
        #expect((0..<5000).count { resources.pause(of: "/\($0)", at: now) != nil } <= 16)
        #expect(resources.lastEnd == now.advanced(by: .seconds(4999)))
    }
}
