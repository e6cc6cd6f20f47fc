// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewHTTP

@Suite(.timeLimit(.minutes(1)))
struct RateLimitStatusTests {
    static let now = Date(timeIntervalSince1970: 1_700_000_000)

    @Test(
        "Each generation of the fields is read",
        arguments: [
            (["RateLimit": #""default";r=50;t=30"#], 50, 30),
            (["RateLimit": #""burst";r=0;t=5, "daily";r=900;t=4000"#], 0, 5),
            (["RateLimit": #""daily";r=900;t=4000,"burst" ; r = 3 ; t=5 ; pk=:Zm9v:"#], 3, 5),
            (["RateLimit": #""a";r=2;t=5, "b";r=2;t=50"#], 2, 50),
            (["RateLimit": #"default;r=7"#], 7, nil),
            (["RateLimit": "limit=100, remaining=50, reset=50"], 50, 50),
            (["RateLimit": "limit=100,remaining=0"], 0, nil),
            (["RateLimit-Limit": "10", "RateLimit-Remaining": "1", "RateLimit-Reset": "9"], 1, 9),
            (["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "17"], 0, 17),
            (["x-ratelimit-remaining": "0", "x-ratelimit-reset": "1700000060"], 0, 60),
            (["X-RateLimit-Remaining": "4", "X-RateLimit-Reset": "1600000000"], 4, 0),
            (["X-RateLimit-Remaining": "4", "X-RateLimit-Reset": "soon"], 4, nil),
            (["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1700000060.25"], 0, 61),
            (["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1700000060.000"], 0, 60),
            (["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1700000060000"], 0, 60),
            (["X-Rate-Limit-Remaining": "0", "X-Rate-Limit-Reset": "1700000060"], 0, 60),
            (["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "5.x"], 0, nil),
            (["RateLimit-Remaining": "3, 10", "RateLimit-Reset": "5;w=60"], 3, 5),
            (["RateLimit-Remaining": "1", "X-RateLimit-Remaining": "2"], 1, nil),
        ] as [([String: String], Int, Int?)])
    func reading(fields: [String: String], remaining: Int, reset: Int?) {
        var headers = HTTPHeaders()
        for (name, value) in fields { headers[HTTPField.Name(name)] = value }
        let status = RateLimitStatus(headers, now: Self.now)
        #expect(status == RateLimitStatus(remaining: remaining, reset: reset.map { .seconds($0) }))
    }

    @Test(
        "A field that cannot be read says nothing",
        arguments: ["", "default", "r", "r=", "r=-1", #""a";r=x;t=5"#, "t=5", "remaining", "r=1.5", ";;,,=="])
    func unreadable(value: String) {
        #expect(RateLimitStatus(["RateLimit": value], now: Self.now) == nil)
        #expect(RateLimitStatus(["RateLimit-Remaining": value], now: Self.now) == nil)
        #expect(RateLimitStatus([:], now: Self.now) == nil)
    }

    @Test("A field that cannot be read does not hide an older one that can", arguments: ["", "default", "remaining"])
    func fallback(value: String) {
        let headers: HTTPHeaders = [
            "RateLimit": value, "RateLimit-Remaining": value, "X-RateLimit-Remaining": "3", "X-RateLimit-Reset": "7",
        ]
        #expect(RateLimitStatus(headers, now: Self.now) == RateLimitStatus(remaining: 3, reset: .seconds(7)))
    }

    @Test("A 429 that names a reset alone leaves nothing; any other status says nothing with it")
    func refusal() {
        let headers: HTTPHeaders = ["X-RateLimit-Reset": "1700000030"]
        let nothing = RateLimitStatus(remaining: 0, reset: .seconds(30))
        #expect(RateLimitStatus(headers, status: .tooManyRequests, now: Self.now) == nothing)
        #expect(RateLimitStatus(headers, status: .forbidden, now: Self.now) == nil)
        #expect(RateLimitStatus(headers, now: Self.now) == nil)
        #expect(RateLimitStatus([:], status: .tooManyRequests, now: Self.now) == nil)
    }

    @Test("Huge numbers are bounded")
    func bounds() {
        let huge = String(repeating: "9", count: 40)
        for headers: HTTPHeaders in [
            ["RateLimit": "\"a\";r=\(huge);t=\(huge)"],
            ["RateLimit-Remaining": huge, "RateLimit-Reset": huge],
            ["RateLimit": "remaining=\(huge), reset=\(huge)"],
        ] {
            let status = RateLimitStatus(headers, now: Self.now)
            #expect(status?.remaining == .max)
            #expect(status?.reset == .seconds(2_147_483_647))
        }
        let many = Array(repeating: #""a";r=5;t=1"#, count: 1000).joined(separator: ",")
        #expect(RateLimitStatus(["RateLimit": many + #","b";r=0;t=1"#], now: Self.now)?.remaining == 5)
    }

    @Test("Nothing that a server writes breaks it")
    func fuzz() {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        let pieces = ["\"", ";", ",", "=", "r", "t", "remaining", "reset", "0", "12", "-", " ", "a", "é", "\t"]
        var readable = 0
        for _ in 0..<50_000 {
            let count = Int.random(in: 0...20, using: &random)
            let value = (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
            guard let status = RateLimitStatus(["RateLimit": value], now: Self.now) else { continue }
            readable += 1
            #expect(status.remaining >= 0 && status.reset ?? .zero >= .zero, "seed \(seed): \(value)")
        }
        #expect(readable > 0, "seed \(seed)")
    }
}
