// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// The rules of retries: causes, number and waits.
///
///     Pipeline.standard                                                    // has .retry(.standard)
///     pipeline.replacing(.retry(.standard.with { $0.attempts = 5 }))       // for a client
///     .get("/report").options { $0.retry = .never }                        // for a call
///
/// A policy is a value without side effects. These rules apply to every policy:
/// - A request is retried only if it may be sent twice (`ExchangeContext.mayRepeat`: the method is idempotent, the call
///   allows it, or it has an `Idempotency-Key`), or if it certainly never reached the server.
/// - A request is retried only if its body can be produced again (`RequestBody.canReplay`).
/// - Failures of TLS and of pins, cancellation, and invalid requests are never retried. Responses that cannot be read
///   are retried only if a rule of the app says so (`RetryPolicy.Verdict`).
/// - No wait extends past the deadline of the call. If it would, the call ends immediately with the response or error
///   of its last attempt.
public struct RetryPolicy: Hashable, Sendable {
    /// The maximum number of attempts, including the first. Default 3. With 1, the policy does not retry.
    public var attempts: Int
    /// The statuses that are transient, so that the request is retried. Default 408, 429, 500, 502, 503, 504.
    public var statuses: Set<HTTPStatus>
    /// The waits before retries. Default exponential with full jitter: the upper bound of a wait doubles from 100 ms,
    /// or from 1 s after a 429, up to 20 s.
    public var backoff: RetryPolicy.Backoff
    /// The longest wait that a server may request, in `Retry-After` or the `RateLimit` fields. Default 60 s. If the
    /// server requests a longer wait, the call ends, because the server would refuse an earlier attempt.
    public var maximumServerWait: Duration
    /// The number of retries that do not count as attempts, for a request that certainly never reached the server.
    /// Default 2. The first of these retries is immediate.
    public var uncountedAttempts: Int
    /// The maximum wait of a call for connectivity. Default nil: it does not wait.
    ///
    /// Attempts that find no network, no route to the host or no address for its name are repeated until this time has
    /// passed since the first attempt. They do not count as attempts, because they cause no load on the server. A
    /// refused connection is not missing connectivity.
    public var connectivityWait: Duration?

    /// Creates a policy from the given values and the defaults.
    public init(
        attempts: Int = 3, statuses: Set<HTTPStatus> = [408, 429, 500, 502, 503, 504],
        backoff: RetryPolicy.Backoff = .exponential, maximumServerWait: Duration = .seconds(60),
        uncountedAttempts: Int = 2,
        connectivityWait: Duration? = nil
    ) {
        self.attempts = attempts
        self.statuses = statuses
        self.backoff = backoff
        self.maximumServerWait = maximumServerWait
        self.uncountedAttempts = uncountedAttempts
        self.connectivityWait = connectivityWait
    }

    /// The default policy: three attempts, with exponential waits and full jitter.
    public static let standard = RetryPolicy()

    /// A policy that never retries.
    public static let never = RetryPolicy(attempts: 1, uncountedAttempts: 0)

    /// Returns the standard policy with a maximum of `count` attempts.
    public static func attempts(_ count: Int) -> RetryPolicy {
        RetryPolicy(attempts: count)
    }

    /// Returns the standard policy with a wait for connectivity of at most `limit`.
    public static func waitingForConnectivity(upTo limit: Duration) -> RetryPolicy {
        RetryPolicy(connectivityWait: limit)
    }

    /// Returns a copy of this policy with the changes that `change` makes.
    public func with(_ change: (inout RetryPolicy) -> Void) -> RetryPolicy {
        var copy = self
        change(&copy)
        return copy
    }
}

extension RetryPolicy: CustomStringConvertible {
    /// A description such as `3 attempts, exponential 100 ms…20 s`, or `never`.
    public var description: String {
        let waiting = connectivityWait.map { ", \($0.brief) for connectivity" } ?? ""
        return attempts <= 1 && connectivityWait == nil
            ? "never" : "\(attempts) attempts, \(backoff)\(waiting)"
    }
}

extension RequestOptions {
    /// The retry policy of this call. Default nil: the policy of the client's `.retry(…)`.
    public var retry: RetryPolicy? {
        get { self[RetryPolicyKey.self] }
        set { self[RetryPolicyKey.self] = newValue }
    }
}

enum RetryPolicyKey: RequestOptions.Key {
    static let defaultValue: RetryPolicy? = nil
}
