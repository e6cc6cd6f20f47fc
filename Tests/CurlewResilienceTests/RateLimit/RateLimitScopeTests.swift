// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore
@testable import CurlewResilience

/// Many scopes, and the quotas of one server.
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

    static let exhausted: HTTPHeaders = ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "30"]

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
}
