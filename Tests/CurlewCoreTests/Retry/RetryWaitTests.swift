// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore
@testable import CurlewResilience

/// How long a policy waits: what servers ask for, and what the call has left.
@Suite(.timeLimit(.minutes(1)))
struct RetryWaitTests {
    static let now = Date(timeIntervalSince1970: 784_111_777)  // Sun, 06 Nov 1994 08:49:37 GMT (RFC 9110 §5.6.7)

    static func decide(
        _ headers: HTTPHeaders, _ status: HTTPStatus = 503, remaining: Duration? = nil, random: Double = 0,
        _ policy: RetryPolicy = .standard
    ) -> NetworkError.Attempt.Decision {
        var situation = RetryPolicy.Situation(date: now, random: random)
        situation.remaining = remaining
        return policy.decide(.status(status), headers: headers, in: situation)
    }

    @Test(
        "A wait that the server requests is kept to the nanosecond",
        arguments: [
            (["Retry-After": "7"], 7.0), (["Retry-After": "0"], 0), (["Retry-After": "60"], 60),
            (["Retry-After": "Sun, 06 Nov 1994 08:49:57 GMT"], 20),
            (["Retry-After": "Sunday, 06-Nov-94 08:49:57 GMT"], 20),
            (["Retry-After": "Sun Nov  6 08:49:57 1994"], 20),
            (["Retry-After": "Sun, 06 Nov 1994 08:49:00 GMT"], 0),
            (["RateLimit": #""default";r=0;t=30"#], 30), (["RateLimit": "limit=100, remaining=0, reset=9"], 9),
            (["RateLimit-Remaining": "0", "RateLimit-Reset": "12"], 12),
            (["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "12"], 12),
            (["Retry-After": "3", "RateLimit": #""default";r=0;t=30"#], 3),
        ] as [([String: String], Double)])
    func wish(fields: [String: String], seconds: Double) {
        var headers = HTTPHeaders()
        for (name, value) in fields { headers[HTTPField.Name(name)] = value }
        let expected = NetworkError.Attempt.Decision.retry(after: .seconds(seconds), because: .serverAsked)
        #expect(Self.decide(headers) == expected)
        #expect(Self.decide(headers, .tooManyRequests) == expected)
    }

    @Test("X-RateLimit-Reset as a Unix time, as some servers have it")
    func unixTime() {
        var situation = RetryPolicy.Situation(date: Date(timeIntervalSince1970: 1_700_000_000), random: 0)
        situation.attempts = 2
        let headers: HTTPHeaders = ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1700000042"]
        let decision = RetryPolicy.standard.decide(.status(429), headers: headers, in: situation)
        #expect(decision == .retry(after: .seconds(42), because: .serverAsked))
        let seconds: HTTPHeaders = ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "784111790"]
        #expect(Self.decide(seconds) == .finish(because: .waitTooLong(.seconds(784_111_790))), "as a time, long ago")
    }

    @Test(
        "A field that cannot be read, or that leaves requests, asks for no wait",
        arguments: [
            ["Retry-After": "soon"], ["Retry-After": "-1"], ["Retry-After": "1.5"],
            ["RateLimit": #""default";r=5;t=30"#],
            ["RateLimit": "???"], ["X-RateLimit-Remaining": "1", "X-RateLimit-Reset": "12"],
            ["X-RateLimit-Reset": "12"], ["X-RateLimit-Remaining": "0"],
        ])
    func noWish(fields: [String: String]) {
        var headers = HTTPHeaders()
        for (name, value) in fields { headers[HTTPField.Name(name)] = value }
        #expect(Self.decide(headers, random: 0.5) == .retry(after: .milliseconds(50), because: .transient))
    }

    @Test("Waits that servers ask for are spread a little, later only, and at most five seconds")
    func spread() {
        #expect(Self.decide(["Retry-After": "7"], random: 0.5) == .retry(after: .seconds(7.5), because: .serverAsked))
        let slow = RetryPolicy(backoff: .constant(.seconds(15)))
        #expect(
            Self.decide(["Retry-After": "7"], random: 0.5, slow) == .retry(after: .seconds(12), because: .serverAsked))
    }

    @Test("A requested wait longer than the policy grants ends the call", arguments: [61, 86_400, .max])
    func tooLong(seconds: Int) {
        let shown = min(seconds, 2_147_483_647)
        #expect(Self.decide(["Retry-After": "\(seconds)"]) == .finish(because: .waitTooLong(.seconds(shown))))
        let patient = RetryPolicy.standard.with { $0.maximumServerWait = .seconds(Int64.max) }
        let decision = Self.decide(["Retry-After": "61"], random: 0, patient)
        #expect(decision == .retry(after: .seconds(61), because: .serverAsked))
    }

    @Test("A wait that ends with the deadline or after it ends the call; a shorter one does not")
    func deadline() {
        let limit = Duration.seconds(7)
        #expect(Self.decide(["Retry-After": "7"], remaining: limit) == .finish(because: .deadline(wait: .seconds(7))))
        #expect(Self.decide(["Retry-After": "8"], remaining: limit) == .finish(because: .deadline(wait: .seconds(8))))
        #expect(
            Self.decide(["Retry-After": "7"], remaining: limit + .nanoseconds(1))
                == .retry(after: .seconds(7), because: .serverAsked))
        #expect(Self.decide([:], remaining: .zero) == .finish(because: .deadline(wait: .zero)))
    }

    @Test("No field of a server makes a wait negative, or longer than granted plus five seconds")
    func hostile() {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        let names: [HTTPField.Name] = [
            "Retry-After", "RateLimit", "RateLimit-Reset", "RateLimit-Remaining", "X-RateLimit-Reset",
            "X-RateLimit-Remaining", "X-Should-Retry",
        ]
        let words = [
            "0", "1", "true", "-1", "99999999999999999999", "1700000000", ";r=0;t=", "reset=", ",", "Sun,", "\"a\"",
        ]
        for _ in 0..<3000 {
            var headers = HTTPHeaders()
            for name in names where Bool.random(using: &random) {
                let parts = (0..<3).map { _ in words.randomElement(using: &random) ?? "" }
                headers.append(name, Bool.random(using: &random) ? parts.joined() : parts[0])
            }
            let decision = Self.decide(headers, random: .random(in: 0..<1, using: &random))
            if case .retry(let wait, _) = decision {
                #expect(wait >= .zero && wait <= .seconds(65), "seed \(seed): \(headers) gave \(wait)")
            }
        }
    }
}
