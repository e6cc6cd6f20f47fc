// SPDX-License-Identifier: MIT

public import CurlewCore
public import CurlewHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension RetryPolicy {
    /// The inputs of a decision other than the outcome.
    @_spi(Simulation) public struct Situation: Sendable {
        /// The number of counted attempts, including this one.
        public var attempts = 1
        /// The number of retries that were not counted because the request had not reached the server.
        public var uncounted = 0
        /// The number of retries that were not counted because the server was unreachable from this network.
        public var offline = 0
        /// Whether the last attempt found no network, no route to the host, or no address for its name.
        public var reachedNobody = false
        /// Whether the request may be sent twice with the intent of sending it once.
        public var mayRepeat = true
        /// Whether the body can be produced again.
        public var canReplay = true
        /// The time since the first attempt began.
        public var elapsed = Duration.zero
        /// The time left for the call; nil without a deadline.
        public var remaining: Duration?
        /// The wait before this attempt, if any.
        public var previousWait: Duration?
        /// The wall clock, for dates that servers send.
        public var date: Date
        /// A uniformly distributed number in 0..<1.
        public var random: Double

        /// Creates the situation of the first attempt of an operation that may be repeated.
        public init(date: Date = Date(), random: Double = .random(in: 0..<1)) {
            self.date = date
            self.random = random
        }

        /// Creates the situation of the first attempt of `request`.
        public init(_ request: HTTPRequest, in context: ExchangeContext, random: Double = .random(in: 0..<1)) {
            self.init(date: context.time.date, random: random)
            mayRepeat = context.mayRepeat(request)
            canReplay = request.body.canReplay
            remaining = context.horizon.remaining(at: context.time.now)
        }
    }

    /// Decides whether to retry, and why. The decision depends only on the arguments. The caller must also respect a
    /// `RetryBudget`.
    ///
    /// - `outcome`: the outcome of the attempt.
    /// - `headers`: the fields of the response, if any. `Retry-After` in both forms, or else `RateLimit` fields with no
    ///   remaining quota, set the minimum wait. `X-Should-Retry: false` ends the call, and `true` makes an error status
    ///   transient.
    /// - `verdict`: the result of an app-defined rule. Default `.usual`, no rule.
    @_spi(Simulation) public func decide(
        _ outcome: Attempt.Outcome, headers: HTTPHeaders = HTTPHeaders(), verdict: RetryPolicy.Verdict = .usual,
        in situation: Situation
    ) -> Attempt.Decision {
        let wish = RetryWish(headers)
        if let end = obstacle(to: outcome, wish, verdict, situation) { return .finish(because: end) }
        let asked: Attempt.Cause = wish.verdict == true ? .serverAsked : verdict.wantsRetry ? .appRule : .transient
        return schedule(
            outcome, because: asked, least: wish.wait(after: outcome.status, from: situation.date), situation)
    }

    /// Decides about a transient outcome of an operation that may be repeated.
    ///
    /// - `reason`: the reason to report unless another one takes precedence.
    /// - `least`: the wait that the server requests, if any.
    func schedule(
        _ outcome: Attempt.Outcome, because reason: Attempt.Cause, least: Duration?, _ situation: Situation
    ) -> Attempt.Decision {
        let (wait, cause): (Duration, Attempt.Cause)
        if outcome == .failed(.connectionLost(.requestNotSent)), situation.uncounted < uncountedAttempts {
            cause = .notReceived
            wait = situation.uncounted == 0 ? .zero : pause(situation.uncounted, situation)
        } else if outcome == .failed(.unreachable), situation.reachedNobody, let offlineWait = offlineWait(situation) {
            (wait, cause) = (offlineWait, .offline)
        } else if situation.attempts >= attempts {
            return .finish(because: .attemptsExhausted(situation.attempts + situation.uncounted + situation.offline))
        } else if let least {
            guard least <= longestServerWait else { return .finish(because: .waitTooLong(least)) }
            // Never early, and spread so that clients do not all return at the same moment.
            let spread = min(pause(situation.attempts, situation, isThrottled: true), Self.longestSpread)
            (wait, cause) = (least + spread, .serverAsked)
        } else {
            cause = reason
            wait = pause(situation.attempts, situation, isThrottled: outcome == .status(.tooManyRequests))
        }
        if let remaining = situation.remaining, wait >= remaining { return .finish(because: .deadline(wait: wait)) }
        return .retry(after: wait, because: cause)
    }

    private static let longestSpread = Duration.seconds(5)

    /// Returns the reason why such an outcome is never retried, or nil.
    private func obstacle(
        to outcome: Attempt.Outcome, _ wish: RetryWish, _ verdict: RetryPolicy.Verdict, _ situation: Situation
    ) -> Attempt.Cause? {
        if outcome == .failed(.cancelled) { return .cancelled }
        if verdict == .final { return .appRule }
        let mayRepeat = situation.mayRepeat || verdict == .retryUnprocessed
        switch outcome {
        case .status(let status):
            let mayPass = statuses.contains(status) || (wish.verdict == true && status.code >= 400)
            guard mayPass || verdict.wantsRetry else { return .final }
            if wish.verdict == false { return .serverForbids }
            if !mayRepeat { return .notIdempotent }
        case .failed(let reason):
            guard reason.mayPass || verdict.wantsRetry && reason.mayBeForgiven else { return .final }
            if !mayRepeat, !reason.notReceived { return .notIdempotent }
        }
        return situation.canReplay ? nil : .bodyNotReplayable
    }

    private func offlineWait(_ situation: Situation) -> Duration? {
        guard let connectivityWait else { return nil }
        let wait = pause(situation.offline + 1, situation)
        return situation.elapsed + wait <= connectivityWait ? wait : nil
    }

    private func pause(_ repetition: Int, _ situation: Situation, isThrottled: Bool = false) -> Duration {
        backoff.wait(
            before: repetition, isThrottled: isThrottled, after: situation.previousWait, random: situation.random)
    }
}

extension Attempt.Outcome {
    /// The status, if there was a response.
    var status: HTTPStatus? {
        if case .status(let status) = self { status } else { nil }
    }
}

extension NetworkError.Reason {
    /// Whether an app-defined rule may retry it. Failures of TLS and invalid requests are never retried.
    fileprivate var mayBeForgiven: Bool {
        switch self {
        case .cancelled, .invalidRequest, .configuration, .encoding, .secureConnectionFailed, .proxyFailed: false
        default: true
        }
    }
}

/// The wishes of a server about retries. The server may be hostile, so callers must bound them.
struct RetryWish {
    private let headers: HTTPHeaders

    init(_ headers: HTTPHeaders) {
        self.headers = headers
    }

    /// The value of `X-Should-Retry`, if it is valid.
    var verdict: Bool? {
        switch headers["X-Should-Retry"]?.lowercased() {
        case "true": true
        case "false": false
        default: nil
        }
    }

    /// Returns the minimum wait.
    func wait(after response: HTTPStatus?, from now: Date) -> Duration? {
        if let value = headers[.retryAfter], let hint = RetryAfter(value) { return hint.delay(now: now) }
        guard let status = RateLimitStatus(headers, status: response, now: now), status.remaining == 0 else {
            return nil
        }
        return status.reset
    }
}
