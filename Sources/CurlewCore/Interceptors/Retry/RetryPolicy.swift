// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// What is tried again, how often, and after which wait.
///
///     Pipeline.standard                                                    // has .retry(.standard)
///     pipeline.replacing(.retry(.standard.with { $0.attempts = 5 }))       // a client's own
///     .get("/report").options { $0.retry = .never }                        // a call's
///
/// A value that decides and does nothing else: see `decide`. Rules that no policy switches off:
/// - Tried again is only what may happen twice (`ExchangeContext.mayRepeat`: the method is idempotent, the call says so,
///   or it has an `Idempotency-Key`), or what certainly never reached the server.
/// - Only requests whose body can be produced again (`RequestBody.canReplay`).
/// - Never: failures of TLS and of pins, cancellation, invalid requests, answers that cannot be read.
/// - No wait goes past the deadline of the call. One that would ends the call at once, with the answer it has.
public struct RetryPolicy: Hashable, Sendable {
    /// How often the request may be sent, the first time included. Default 3; 1 never tries again.
    public var attempts: Int
    /// The statuses that may pass. Default 408, 429, 500, 502, 503, 504.
    public var statuses: Set<HTTPStatus>
    /// The waits. Default exponential with full jitter, 100 ms (1 s when throttled) to 20 s.
    public var backoff: Backoff
    /// The longest wait that a server may ask for, in `Retry-After` or the `RateLimit` fields. Default 60 s. A longer one
    /// ends the call: coming back early would be refused again.
    public var longestServerWait: Duration
    /// How often a request that certainly never reached the server is sent again without being counted. Default 2. The
    /// first time is at once.
    public var uncountedAttempts: Int
    /// How long a call may wait for a way to the server: attempts that find no network, no route to the host or no address
    /// for its name are made again, without being counted, until so much time has gone since the first. No server hears of
    /// them. A server that refuses the connection does not belong to them. Default nil, not at all.
    public var connectivityWait: Duration?

    /// A policy with the defaults where nothing is said.
    public init(
        attempts: Int = 3, statuses: Set<HTTPStatus> = [408, 429, 500, 502, 503, 504],
        backoff: Backoff = .exponential, longestServerWait: Duration = .seconds(60), uncountedAttempts: Int = 2,
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

    /// The standard with so many attempts.
    public static func attempts(_ count: Int) -> RetryPolicy {
        RetryPolicy(attempts: count)
    }

    /// The standard, and a wait of at most `limit` for a way to the server.
    public static func waitingForConnectivity(upTo limit: Duration) -> RetryPolicy {
        RetryPolicy(connectivityWait: limit)
    }

    /// This policy, changed.
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
    /// What of this call is tried again; nil, the default, leaves it to the client's `.retry(…)`.
    public var retry: RetryPolicy? {
        get { self[RetryPolicyKey.self] }
        set { self[RetryPolicyKey.self] = newValue }
    }
}

enum RetryPolicyKey: RequestOptionKey {
    static let defaultValue: RetryPolicy? = nil
}
