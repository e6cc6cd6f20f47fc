// SPDX-License-Identifier: MIT

import CurlewFoundation
import CurlewHTTP

extension RetryPolicy {
    /// The state of a call that a retry decision depends on, other than the outcome of the attempt.
    struct Situation: Sendable {
        /// The number of attempts so far that count towards `RetryPolicy.attempts`, including the current one.
        var attempts = 1
        /// The number of retries that did not count because the request certainly had not reached the server.
        var uncounted = 0
        /// The number of retries that did not count because the attempt found no network or no route to the host.
        var offline = 0
        /// Whether the last attempt found no network, no route to the host, or no address for its name.
        var reachedNoServer = false
        /// Whether the request may be sent more than once (`ExchangeContext.mayRepeat`).
        var mayRepeat = true
        /// Whether the body can be produced again (`RequestBody.canReplay`).
        var canReplay = true
        /// The time since the first attempt began.
        var elapsed = Duration.zero
        /// The time left until the deadline of the call; nil if it has none.
        var remaining: Duration?
        /// The wait before the last attempt; nil if it was the first.
        var previousWait: Duration?
        /// The current date, to which dates in `Retry-After` and similar fields are compared.
        var date = Date()
        /// A uniformly distributed number in 0..<1, from which the wait is computed.
        var random: Double
    }

    /// Decides whether to retry after an attempt, and returns the wait and the reason. The decision depends only on the
    /// arguments. The caller must also respect a `RetryBudget`.
    ///
    /// - `outcome`: the outcome of the attempt.
    /// - `headers`: the fields of the response; empty if there is none. `Retry-After` in both forms, or else
    ///   `RateLimit` fields that report an exhausted quota, set the minimum wait. `X-Should-Retry: false` ends the
    ///   call, and `true` makes an error status transient.
    /// - `verdict`: the result of an app-defined rule. Default `.usual`: there is no rule.
    /// - `situation`: the state of the call.
    func decide(
        _ outcome: NetworkError.Attempt.Outcome, headers: HTTPHeaders = HTTPHeaders(),
        verdict: RetryPolicy.Verdict = .usual,
        in situation: Situation
    ) -> NetworkError.Attempt.Decision {
        let instruction = RetryInstruction(headers: headers)
        if let end = obstacle(to: outcome, instruction, verdict, situation) { return .finish(because: end) }
        let cause: NetworkError.Attempt.Cause =
            instruction.verdict == true ? .serverAsked : verdict.wantsRetry ? .appRule : .transient
        return schedule(
            outcome, because: cause, minimum: instruction.wait(after: outcome.status, from: situation.date), situation)
    }

    /// Decides whether and when to retry after a transient outcome of a request that may be repeated.
    ///
    /// - `reason`: the reason to report, unless the retry has a more specific one.
    /// - `minimum`: the wait that the server requests; nil if it requests none.
    private func schedule(
        _ outcome: NetworkError.Attempt.Outcome, because reason: NetworkError.Attempt.Cause, minimum: Duration?,
        _ situation: Situation
    ) -> NetworkError.Attempt.Decision {
        let (wait, cause): (Duration, NetworkError.Attempt.Cause)
        if outcome == .failed(.connectionLost(.requestNotSent)), situation.uncounted < uncountedAttempts {
            cause = .notReceived
            wait = situation.uncounted == 0 ? .zero : pause(situation.uncounted, situation)
        } else if outcome == .failed(.unreachable), situation.reachedNoServer, let offlineWait = offlineWait(situation)
        {
            (wait, cause) = (offlineWait, .offline)
        } else if situation.attempts >= attempts {
            return .finish(because: .attemptsExhausted(situation.attempts + situation.uncounted + situation.offline))
        } else if let minimum {
            guard minimum <= maximumServerWait else { return .finish(because: .waitTooLong(minimum)) }
            // The retry is never early, and the added wait keeps clients from returning at the same moment.
            let spread = min(pause(situation.attempts, situation, isThrottled: true), Self.maximumSpread)
            (wait, cause) = (minimum + spread, .serverAsked)
        } else {
            cause = reason
            wait = pause(situation.attempts, situation, isThrottled: outcome == .status(.tooManyRequests))
        }
        if let remaining = situation.remaining, wait >= remaining { return .finish(because: .deadline(wait: wait)) }
        return .retry(after: wait, because: cause)
    }

    private static let maximumSpread = Duration.seconds(5)

    /// Returns the reason why this outcome must not be retried; nil if it may be.
    private func obstacle(
        to outcome: NetworkError.Attempt.Outcome, _ instruction: RetryInstruction, _ verdict: RetryPolicy.Verdict,
        _ situation: Situation
    ) -> NetworkError.Attempt.Cause? {
        if outcome == .failed(.cancelled) { return .cancelled }
        if verdict == .final { return .appRule }
        let mayRepeat = situation.mayRepeat || verdict == .retryUnprocessed
        switch outcome {
        case .status(let status):
            let mayPass = statuses.contains(status) || (instruction.verdict == true && status.code >= 400)
            guard mayPass || verdict.wantsRetry else { return .final }
            if instruction.verdict == false { return .serverForbids }
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

extension NetworkError.Attempt.Outcome {
    /// The status of the response; nil if no response arrived.
    var status: HTTPStatus? {
        if case .status(let status) = self { status } else { nil }
    }
}

extension NetworkError.Reason {
    /// Whether an app-defined rule may retry a failure with this reason. Failures of TLS and of proxies,
    /// invalid requests or configurations, and cancellation are excluded.
    fileprivate var mayBeForgiven: Bool {
        switch self {
        case .cancelled, .invalidRequest, .configuration, .encoding, .secureConnectionFailed, .proxyFailed: false
        default: true
        }
    }
}

/// The server's instruction about retries in the fields of its response. The values are untrusted, so callers must
/// limit them.
struct RetryInstruction {
    let headers: HTTPHeaders

    /// The value of `X-Should-Retry`; nil if the field is missing or neither `true` nor `false`.
    var verdict: Bool? {
        switch headers["X-Should-Retry"]?.lowercased() {
        case "true": true
        case "false": false
        default: nil
        }
    }

    /// Returns the wait that the server requests, in `Retry-After` or else in the fields of an exhausted quota; nil if
    /// it requests none.
    func wait(after response: HTTPStatus?, from now: Date) -> Duration? {
        if let wait = headers.retryAfter(now: now) { return wait }
        guard let status = RateLimitStatus(headers, status: response, now: now), status.remaining == 0 else {
            return nil
        }
        return status.reset
    }
}
