// SPDX-License-Identifier: MIT

public import CurlewHTTP

extension NetworkError {
    /// A record of one attempt of a call: its timing, its outcome, and the decision that followed.
    ///
    /// `HTTPResponse.attempts` and `NetworkError.attempts` list the attempts of a call across all its redirects, oldest
    /// first:
    ///
    ///     for attempt in error.attempts { print(attempt) }
    ///     // 1: status 503 after 34 ms; retried in 120 ms, because the failure may be temporary
    ///     // 2: timedOut firstByte after 30 s; not retried, because all 2 attempts were made
    public struct Attempt: Hashable, Sendable {
        /// The number of the attempt, counted from one across all hops of the call. Attempts that were not sent are
        /// counted too.
        public let number: Int
        /// The number of redirects that the call had followed before this attempt.
        public let hop: Int
        /// The time from the start of the call to the start of the attempt.
        public let start: Duration
        /// The time from the start of the attempt to the response head or the failure.
        public let duration: Duration
        /// The result of the attempt: the status of its response, or the reason why there was none.
        public let outcome: Outcome
        /// The decision after the attempt, with its cause.
        public package(set) var decision: Decision
        /// Other events during the attempt, one short phrase each, such as a wait for a permit, a wait for a token of a
        /// rate limit, or a second request.
        public let notes: [String]

        /// Creates a record of one attempt. By default, the attempt belongs to the first hop, started with the call,
        /// and was final.
        public init(
            number: Int, hop: Int = 0, start: Duration = .zero, duration: Duration, outcome: Outcome,
            decision: Decision = .finish(because: .final), notes: [String] = []
        ) {
            self.number = number
            self.hop = hop
            self.start = start
            self.duration = duration
            self.outcome = outcome
            self.decision = decision
            self.notes = notes
        }

        /// The result of an attempt.
        public enum Outcome: Hashable, Sendable {
            /// A response head arrived with this status.
            case status(HTTPStatus)
            /// No response arrived, for this reason.
            case failed(NetworkError.Reason)

            package init(_ failure: NetworkError) {
                if case .status(let status) = failure.reason {
                    self = .status(status)
                } else {
                    self = .failed(failure.reason)
                }
            }
        }

        /// The decision of a policy after an attempt.
        public enum Decision: Hashable, Sendable {
            /// No further attempt is made. The caller receives the outcome of this attempt.
            case finish(because: Cause)
            /// The request is sent again after this wait.
            case retry(after: Duration, because: Cause)

            /// The reason for the decision.
            public var cause: Cause {
                switch self {
                case .finish(let cause), .retry(_, let cause): cause
                }
            }
        }
    }
}

extension NetworkError.Attempt {
    /// The reason why an attempt was, or was not, followed by another.
    @nonexhaustive
    public enum Cause: Hashable, Sendable {
        /// Retried: the failure may be transient.
        case transient
        /// Retried: the server cannot have acted on the request. Does not count towards the maximum number of attempts.
        case notReceived
        /// Retried: the server requested a retry (`X-Should-Retry: true`), or specified its delay (`Retry-After`).
        case serverAsked
        /// Retried: no server was reached, and the policy waits for connectivity (`RetryPolicy.connectivityWait`).
        case offline
        /// Retried after a 401, with a refreshed credential.
        case renewed
        /// Retried after a 401, with a credential for its challenge (RFC 9110 §11.6.1).
        case challenged
        /// Retried or ended by a rule of the app (`.retry(when:)`), or ended by an error of `onRetry`.
        case appRule
        /// Sent in parallel with another attempt, because that attempt was slow.
        case hedge

        /// Ended: a retry would not change the outcome.
        case final
        /// Ended: the server may have acted on the request, and the request is not idempotent.
        case notIdempotent
        /// Ended: the body cannot be produced again.
        case bodyNotReplayable
        /// Ended: this number of attempts has been made.
        case attemptsExhausted(Int)
        /// Ended: the `RetryBudget` has too few tokens for this origin.
        case budgetExhausted
        /// Ended: the next wait would exceed the deadline of the call.
        case deadline(wait: Duration)
        /// Ended: the server requested a longer wait than the policy allows.
        case waitTooLong(Duration)
        /// Ended: the server forbids a retry (`X-Should-Retry: false`).
        case serverForbids
        /// Ended: the call was cancelled, or another attempt was faster.
        case cancelled
    }
}

extension NetworkError.Attempt: CustomStringConvertible {
    /// The attempt on one line: `1: status 503 after 34 ms; retried in 120 ms, because the failure may be temporary`.
    public var description: String {
        "\(number): \(text)"
    }

    /// The description without the number.
    package var text: String {
        let notes = notes.isEmpty ? "" : " (" + notes.joined(separator: ", ") + ")"
        let verdict = decision == .finish(because: .final) ? "" : "; \(decision)"
        return "\(outcome) after \(duration.brief)\(notes)\(verdict)"
    }
}

extension NetworkError.Attempt.Outcome: CustomStringConvertible {
    /// The status, or the label of the reason: `status 503`, `timedOut firstByte`.
    public var description: String {
        switch self {
        case .status(let status): "status \(status.code)"
        case .failed(let reason): "\(reason)"
        }
    }
}

extension NetworkError.Attempt.Decision: CustomStringConvertible {
    /// The decision and its cause as a phrase: `retried in 120 ms, because the failure may be temporary`.
    public var description: String {
        switch self {
        case .finish(let cause): "not retried, because \(cause)"
        case .retry(let wait, let cause):
            "retried \(wait > .zero ? "in \(wait.brief)" : "immediately"), because \(cause)"
        }
    }
}

extension NetworkError.Attempt.Cause: CustomStringConvertible {
    /// The cause as a clause that follows `because`: `the failure may be temporary`.
    public var description: String {
        switch self {
        case .transient: "the failure may be temporary"
        case .notReceived: "the server cannot have received it"
        case .serverAsked: "the server asked for a retry"
        case .offline: "there was no route to the server"
        case .renewed: "the credential was refreshed"
        case .challenged: "the server asked for a credential"
        case .appRule: "a rule of the app decided so"
        case .hedge: "the first request took too long"
        case .final: "a retry would not change the outcome"
        case .notIdempotent: "the server may have processed it, and it is not idempotent"
        case .bodyNotReplayable: "the body cannot be sent again"
        case .attemptsExhausted(let count): "all \(count) attempts were made"
        case .budgetExhausted: "the retry budget is empty"
        case .deadline(let wait): "the deadline of the call is before the end of a wait of \(wait.brief)"
        case .waitTooLong(let wait):
            "the server asks for a wait of \(wait.brief), which is longer than the policy allows"
        case .serverForbids: "the server forbids a retry"
        case .cancelled: "it was cancelled"
        }
    }
}
