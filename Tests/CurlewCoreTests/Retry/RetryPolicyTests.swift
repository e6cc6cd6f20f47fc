// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore
@testable import CurlewResilience

/// The whole table: what a situation is made of, and what is decided in each situation.
@Suite(.timeLimit(.minutes(1)))
struct RetryPolicyTests {
    static let methods: [(HTTPMethod, isIdempotent: Bool)] = [
        (.get, true), (.head, true), (.options, true), (.trace, true), (.query, true), (.put, true), (.delete, true),
        (.post, false), (.patch, false), (.connect, false), ("PURGE", false), ("get", false),
    ]
    static let passing: Set<Int> = [408, 429, 500, 502, 503, 504]
    static let statuses = Array(100...599) + [0, 999]
    static let bodies: [(RequestBody, canReplay: Bool)] = [
        (.empty, true), (.bytes(Data("x".utf8)), true), (.file("/x"), true),
        (.stream(replay: .always) { RequestBody.Chunks(AsyncStream<Data> { nil }) }, true),
        (.stream { RequestBody.Chunks(AsyncStream<Data> { nil }) }, false),
    ]
    static let verdicts: [(HTTPHeaders, verdict: Bool?)] = [
        ([:], nil), (["X-Should-Retry": "false"], false), (["X-Should-Retry": "True"], true),
        (["X-Should-Retry": "perhaps"], nil),
    ]

    static func situation(
        _ method: HTTPMethod, _ body: RequestBody, declared: Bool? = nil, key: String? = nil, attempts: Int
    ) throws -> RetryPolicy.Situation {
        var request = try HTTPRequest(method, url: "https://a.test/", body: body)
        request.headers[.idempotencyKey] = key
        var options = RequestOptions()
        options.isIdempotent = declared
        let context = ExchangeContext(options: options, timeouts: .none, time: ManualClock())
        var situation = RetryState(request, in: context, budget: RetryBudget(), began: context.start).situation
        situation.random = 0.5
        situation.attempts = attempts
        return situation
    }

    @Test("A situation says whether the request may be sent twice, and whether its body can be", arguments: methods)
    func situations(method: HTTPMethod, isIdempotent: Bool) throws {
        for (body, canReplay) in Self.bodies {
            for declared in [nil, true, false] {
                for key in [nil, "", "k"] {
                    let situation = try Self.situation(method, body, declared: declared, key: key, attempts: 1)
                    #expect(situation.mayRepeat == declared ?? (isIdempotent || key == "k"))
                    #expect(situation.canReplay == canReplay)
                }
            }
        }
    }

    @Test("The status and the situation decide whether a response is repeated", arguments: 1...4)
    func statuses(attempts: Int) {
        for (mayRepeat, canReplay) in [(true, true), (true, false), (false, true), (false, false)] {
            var situation = RetryPolicy.Situation(random: 0.5)
            situation.attempts = attempts
            (situation.mayRepeat, situation.canReplay) = (mayRepeat, canReplay)
            for status in Self.statuses {
                for (headers, verdict) in Self.verdicts {
                    let expected: NetworkError.Attempt.Decision =
                        if !Self.passing.contains(status), !(verdict == true && status >= 400) {
                            .finish(because: .final)
                        } else if verdict == false {
                            .finish(because: .serverForbids)
                        } else if !mayRepeat {
                            .finish(because: .notIdempotent)
                        } else if !canReplay {
                            .finish(because: .bodyNotReplayable)
                        } else if attempts >= 3 {
                            .finish(because: .attemptsExhausted(attempts))
                        } else {
                            .retry(
                                after: .milliseconds((status == 429 ? 500 : 50) * (attempts == 1 ? 1 : 2)),
                                because: verdict == true ? .serverAsked : .transient)
                        }
                    let decision = RetryPolicy.standard.decide(
                        .status(HTTPStatus(status)), headers: headers, in: situation)
                    if decision != expected {
                        Issue.record("\(status) \(headers) \(mayRepeat) \(canReplay): \(decision), not \(expected)")
                    }
                }
            }
        }
    }

    /// Each reason there is: whether it may pass, and whether nothing can have arrived.
    static let reasons: [(NetworkError.Reason, mayPass: Bool, notReceived: Bool)] = [
        (.invalidRequest, false, true), (.configuration, false, true), (.encoding, false, false),
        (.unreachable, true, true), (.proxyFailed(.unreachable), true, true),
        (.proxyFailed(.notAuthenticated), false, true), (.proxyFailed(.refused(503)), true, true),
        (.proxyFailed(.refused(403)), false, true), (.proxyFailed(.refused(nil)), false, true),
        (.timedOut(.connect), true, false), (.timedOut(.firstByte), true, false), (.timedOut(.idle), true, false),
        (.timedOut(.attempt), true, false), (.timedOut(.total), true, false),
        (.connectionLost(.requestMayHaveArrived), true, false), (.badResponse, false, false),
        (.limitExceeded(.responseBody), false, false), (.limitExceeded(.redirects), false, false),
        (.decoding, false, false), (.notAuthenticated(.signedOut), false, false),
        (.notAuthenticated(.sourceFailed), false, false), (.refused(by: .mock), false, false),
        (.refused(by: .overload), false, false), (.refused(by: .circuitBreaker), false, false),
        (.refused(by: .rateLimit), false, false), (.refused(by: .concurrencyLimit), false, false),
        (.refused(by: .shutdown), false, false),
        (.refused(by: .redirects), false, false), (.storage, false, false), (.interceptor, false, false),
        (.secureConnectionFailed(.expired), false, true), (.secureConnectionFailed(.notYetValid), false, true),
        (.secureConnectionFailed(.untrusted), false, true), (.secureConnectionFailed(.wrongHost), false, true),
        (.secureConnectionFailed(.pinMismatch), false, true), (.secureConnectionFailed(.handshake), false, true),
        (.secureConnectionFailed(.clientCertificate), false, true),
    ]

    @Test("The failure and the situation decide whether a call is repeated; TLS failures never are", arguments: reasons)
    func failures(reason: NetworkError.Reason, mayPass: Bool, notReceived: Bool) throws {
        for (method, isIdempotent) in Self.methods {
            for (body, canReplay) in Self.bodies {
                for attempts in 1...4 {
                    let situation = try Self.situation(method, body, attempts: attempts)
                    let expected: NetworkError.Attempt.Decision =
                        if !mayPass {
                            .finish(because: .final)
                        } else if !isIdempotent, !notReceived {
                            .finish(because: .notIdempotent)
                        } else if !canReplay {
                            .finish(because: .bodyNotReplayable)
                        } else if attempts >= 3 {
                            .finish(because: .attemptsExhausted(attempts))
                        } else {
                            .retry(after: .milliseconds(attempts == 1 ? 50 : 100), because: .transient)
                        }
                    let decision = RetryPolicy.standard.decide(.failed(reason), in: situation)
                    #expect(decision == expected, "\(method) \(body) \(attempts)")
                }
            }
        }
    }

    @Test("Cancellation is never tried again")
    func cancelled() {
        #expect(RetryPolicy.standard.decide(.failed(.cancelled), in: .init(random: 0)) == .finish(because: .cancelled))
    }

    @Test("A request that never arrived is repeated at once, then after waits, and not forever")
    func notReceived() throws {
        var situation = try Self.situation(.post, .empty, attempts: 1)
        func decide() -> NetworkError.Attempt.Decision {
            RetryPolicy.standard.decide(.failed(.connectionLost(.requestNotSent)), in: situation)
        }
        #expect(decide() == .retry(after: .zero, because: .notReceived))
        situation.uncounted = 1
        #expect(decide() == .retry(after: .milliseconds(50), because: .notReceived))
        situation.uncounted = 2
        #expect(decide() == .retry(after: .milliseconds(50), because: .transient))
        situation.attempts = 3
        #expect(decide() == .finish(because: .attemptsExhausted(5)))
        situation.canReplay = false
        #expect(decide() == .finish(because: .bodyNotReplayable))
    }

    @Test("Waiting for connectivity has its own bound and uses up no attempt")
    func offline() {
        let policy = RetryPolicy.waitingForConnectivity(upTo: .seconds(10))
        var situation = RetryPolicy.Situation(random: 0.5)
        situation.attempts = 3
        situation.offline = 7
        situation.elapsed = .milliseconds(3600)
        situation.reachedNoServer = true
        func decide(_ reason: NetworkError.Reason = .unreachable) -> NetworkError.Attempt.Decision {
            policy.decide(.failed(reason), in: situation)
        }
        #expect(decide() == .retry(after: .milliseconds(6400), because: .offline))
        situation.elapsed += .nanoseconds(1)
        #expect(decide() == .finish(because: .attemptsExhausted(10)))
        situation.attempts = 1
        #expect(decide() == .retry(after: .milliseconds(50), because: .transient), "the counted attempts are left")
        #expect(decide(.timedOut(.connect)).cause == .transient)
        #expect(RetryPolicy.standard.decide(.failed(.unreachable), in: situation).cause == .transient)
    }

    @Test("The statuses and failures of the standard policy are those of NetworkError.isRetryable")
    func oneList() {
        for code in 100...599 {
            let status = HTTPStatus(code)
            #expect(NetworkError(.status(status)).isRetryable == RetryPolicy.standard.statuses.contains(status))
        }
        for (reason, mayPass, _) in Self.reasons {
            // Those of the client's own policies may pass, later: a retry at once would only meet them again.
            if case .refused = reason { continue }
            #expect(NetworkError(reason).isRetryable == mayPass)
        }
        #expect(!NetworkError(.cancelled).isRetryable)
    }
}
