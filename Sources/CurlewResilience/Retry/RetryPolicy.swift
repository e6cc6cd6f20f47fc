// SPDX-License-Identifier: MIT

public import CurlewCore
public import CurlewHTTP

/// Specifies what is retried, how often, and after which wait.
///
///     Pipeline.standard                                                    // has .retry(.standard)
///     pipeline.replacing(.retry(.standard.with { $0.attempts = 5 }))       // for a client
///     .get("/report").options { $0.retry = .never }                        // for a call
///
/// A policy is a value that makes decisions and has no side effects: see `decide`. These rules apply to every policy:
/// - A request is retried only if it may be sent twice (`ExchangeContext.mayRepeat`: the method is idempotent, the call
///   allows it, or it has an `Idempotency-Key`), or if it certainly never reached the server.
/// - A request is retried only if its body can be produced again (`RequestBody.canReplay`).
/// - Never retried: failures of TLS and of pins, cancellation, invalid requests, responses that cannot be read.
/// - No wait extends past the deadline of the call. If a wait would, the call ends immediately with the response it
///   has.
public struct RetryPolicy: Hashable, Sendable {
    /// The maximum number of attempts, including the first. Default 3; 1 never retries.
    public var attempts: Int
    /// The statuses that are transient. Default 408, 429, 500, 502, 503, 504.
    public var statuses: Set<HTTPStatus>
    /// The waits. Default exponential with full jitter, 100 ms (1 s when throttled) to 20 s.
    public var backoff: RetryPolicy.Backoff
    /// The longest wait that a server may request, in `Retry-After` or the `RateLimit` fields. Default 60 s. A longer
    /// one ends the call, because the server would refuse an earlier attempt.
    public var longestServerWait: Duration
    /// How often a request that certainly never reached the server is sent again without being counted. Default 2. The
    /// first of these retries is immediate.
    public var uncountedAttempts: Int
    /// How long a call may wait for connectivity. Attempts that find no network, no route to the host or no address for
    /// its name are repeated, without being counted, until this time has passed since the first attempt. They cause no
    /// load on the server. A refused connection does not count as missing connectivity. Default nil, no waiting.
    public var connectivityWait: Duration?

    /// Creates a policy. Parameters that are omitted have the default values.
    public init(
        attempts: Int = 3, statuses: Set<HTTPStatus> = [408, 429, 500, 502, 503, 504],
        backoff: RetryPolicy.Backoff = .exponential, longestServerWait: Duration = .seconds(60),
        uncountedAttempts: Int = 2,
        connectivityWait: Duration? = nil
    ) {
        self.attempts = attempts
        self.statuses = statuses
        self.backoff = backoff
        self.longestServerWait = longestServerWait
        self.uncountedAttempts = uncountedAttempts
        self.connectivityWait = connectivityWait
    }

    /// Three attempts, exponential waits with full jitter.
    public static let standard = RetryPolicy()

    /// One attempt.
    public static let never = RetryPolicy(attempts: 1, uncountedAttempts: 0)

    /// The standard policy with a different number of attempts.
    public static func attempts(_ count: Int) -> RetryPolicy {
        RetryPolicy(attempts: count)
    }

    /// The standard policy plus a wait of at most `limit` for connectivity.
    public static func waitingForConnectivity(upTo limit: Duration) -> RetryPolicy {
        RetryPolicy(connectivityWait: limit)
    }

    /// Returns a changed copy of this policy.
    public func with(_ change: (inout RetryPolicy) -> Void) -> RetryPolicy {
        var copy = self
        change(&copy)
        return copy
    }
}

extension RetryPolicy: CustomStringConvertible {
    /// `3 attempts, exponential 100 ms…20 s`
    public var description: String {
        let waiting = connectivityWait.map { ", \($0.brief) for connectivity" } ?? ""
        return attempts <= 1 && connectivityWait == nil
            ? "never" : "\(attempts) attempts, \(backoff)\(waiting)"
    }
}

extension RequestOptions {
    /// The retry policy of this call; nil, the default, uses that of the client's `.retry(…)`.
    public var retry: RetryPolicy? {
        get { self[RetryPolicyKey.self] }
        set { self[RetryPolicyKey.self] = newValue }
    }
}

enum RetryPolicyKey: RequestOptions.Key {
    static let defaultValue: RetryPolicy? = nil
}
