// SPDX-License-Identifier: MIT

public import CurlewFoundation
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
public struct RetryPolicy: Hashable, CustomStringConvertible, Sendable {
    /// The maximum number of attempts, including the first. Default 3. With 1, only retries that do not count are made
    /// (`uncountedAttempts`, `connectivityWait`). If the client's policy has less than 1, every call throws
    /// `.configuration`.
    public var attempts: Int
    /// The statuses that are transient, so that the request is retried. Default 408, 429, 500, 502, 503, 504.
    public var statuses: Set<HTTPStatus>
    /// The waits before retries. Default exponential with full jitter: the upper bound of a wait doubles from 100 ms,
    /// or from 1 s after a 429, up to 20 s.
    public var backoff: RetryPolicy.Backoff
    /// The longest wait that a server may request, in `Retry-After` or the `RateLimit` fields. Default 60 s. A retry
    /// adds a wait of `backoff`, at most 5 s. If the server requests a longer wait, the call ends, because the server
    /// would refuse an earlier attempt.
    public var maximumServerWait: Duration
    /// The number of retries after `.connectionLost(.requestNotSent)` that do not count as attempts. Default 2. The
    /// first of these retries is immediate.
    public var uncountedAttempts: Int
    /// The maximum wait of a call for connectivity. Default nil: no wait. Attempts that find no network, no route to
    /// the host or no address for its name are repeated until this time has passed since the first attempt. They do not
    /// count as attempts, because they cause no load on the server. A refused connection is not missing connectivity.
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

    /// A description such as `3 attempts, exponential 100 ms…20 s`, or `never`.
    public var description: String {
        let waiting = connectivityWait.map { ", \($0.brief) for connectivity" } ?? ""
        return attempts <= 1 && connectivityWait == nil
            ? "never" : "\(attempts) attempts, \(backoff)\(waiting)"
    }
}

extension RequestOptions {
    /// The retry policy of this call. Default nil: that of the client's `.retry()`, which this option requires.
    public var retry: RetryPolicy? {
        get { self[RetryPolicyKey.self] }
        set { self[RetryPolicyKey.self] = newValue }
    }
}

enum RetryPolicyKey: RequestOptions.Key {
    static let defaultValue: RetryPolicy? = nil
}

extension RetryPolicy {
    /// The result of one attempt, as the closures of `.retry` receive it.
    ///
    ///     .retry(when: { $0.status == .forbidden && $0.headers.contains(.retryAfter) ? .retry : .usual })
    ///
    /// The closures are called on the task of the call. Those that classify an outcome are synchronous and must return
    /// quickly.
    public struct AttemptResult: Sendable {
        /// The request of this attempt as `.retry` sent it, without the fields that interceptors closer to the
        /// transport add.
        public let request: HTTPRequest
        /// The name of the route of the call; empty if it has none.
        public let routeName: String
        /// The number of the attempt of this hop, counted from one.
        public let number: Int
        /// The response, if one arrived. Its body belongs to the caller; app-defined rules read `body` instead.
        let response: HTTPResponse?
        /// The error that the attempt threw; nil if a response arrived, whatever its status.
        public let error: NetworkError?

        /// Creates a result, for tests of app-defined rules. Pass either a response or an error.
        public init(
            _ request: HTTPRequest, routeName: String = "", number: Int = 1, response: HTTPResponse? = nil,
            error: NetworkError? = nil
        ) {
            self.request = request
            self.routeName = routeName
            self.number = number
            self.response = response
            self.error = error
        }

        /// The status of the response, or of the response in `error`; nil if no response arrived.
        public var status: HTTPStatus? { response?.status ?? error?.response?.status }

        /// The header fields of the response, or of the response in `error`; empty if no response arrived.
        public var headers: HTTPHeaders { response?.headers ?? error?.response?.headers ?? [:] }

        /// The complete response body, if it arrived together with the head and has at most 1 MiB; nil otherwise. Every
        /// small response of a call that does not stream arrives this way.
        public var body: Data? {
            guard let data = response?.body.bufferedData, data.count <= Self.maximumBody else { return nil }
            return data
        }

        /// The outcome of the attempt: the status of the response, or the reason of the error.
        public var outcome: NetworkError.Attempt.Outcome {
            if let response { return .status(response.status) }
            return error.map { NetworkError.Attempt.Outcome($0) } ?? .failed(.cancelled)
        }

        private static let maximumBody = 1 << 20
    }
}

extension RetryPolicy.AttemptResult: MirroredByDescription {
    /// A description on one line, such as `attempt 2 of GET https://host/path: status 503`.
    public var description: String { "attempt \(number) of \(request): \(outcome)" }
}
