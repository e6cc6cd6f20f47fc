// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// One try of a call: what happened, when, what was decided about it, and why.
///
/// `HTTPResponse.attempts` and `NetworkError.attempts` have them, oldest first, over all redirects of the call:
///
///     for attempt in error.attempts { print(attempt) }
///     // 1: status 503 after 34 ms; again in 120 ms, because it may pass
///     // 2: timedOut firstByte after 30 s; no more, because the call has to end in 2 s
public struct Attempt: Hashable, Sendable {
    /// Counted from one over the whole call, its redirects and what was not sent included.
    public let number: Int
    /// How many redirects led to the request.
    public let hop: Int
    /// When it began, from the beginning of the call.
    public let start: Duration
    /// How long it took until the head of the answer was there, or until it failed.
    public let duration: Duration
    /// What came of it.
    public let outcome: Outcome
    /// What was decided about it, and why.
    public package(set) var decision: Decision
    /// What else happened on its way, one short sentence each: a wait for a place, a second sending.
    public let notes: [String]

    /// A record of one try.
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

    /// What came of one try.
    public enum Outcome: Hashable, Sendable {
        /// The head of an answer.
        case status(HTTPStatus)
        /// No answer, for this reason.
        case failed(NetworkError.Reason)

        package init(_ failure: NetworkError) {
            if case .status(let status) = failure.reason {
                self = .status(status)
            } else {
                self = .failed(failure.reason)
            }
        }
    }

    /// What a policy made of an outcome.
    public enum Decision: Hashable, Sendable {
        /// The caller gets the outcome.
        case finish(because: Cause)
        /// The request is sent again after a wait.
        case retry(after: Duration, because: Cause)

        /// Why.
        public var cause: Cause {
            switch self {
            case .finish(let cause), .retry(_, let cause): cause
            }
        }
    }
}

extension Attempt {
    /// Why a call was tried again, or was not.
    @nonexhaustive
    public enum Cause: Hashable, Sendable {
        /// Tried again: such a failure may pass.
        case transient
        /// Tried again: the server cannot have acted on the request. Not counted as a try.
        case neverArrived
        /// Tried again: the server asked for it, or for this wait.
        case serverAsked
        /// Tried again: there is no way to the server, and the policy waits for one.
        case offline
        /// Sent again with a credential that has been renewed, after a 401.
        case renewed
        /// Sent again with the answer to a challenge (RFC 9110 §11.6.1), after a 401.
        case challenged
        /// Tried again, or the end: a rule of the app says so (`.retry(when:)`).
        case appRule
        /// Tried at the same time as another, because that one took long.
        case hedge

        /// The end: such an outcome stays as it is.
        case final
        /// The end: the server may have acted on the request, and doing it twice is not the same as doing it once.
        case notIdempotent
        /// The end: the body cannot be produced again.
        case bodyIsGone
        /// The end: so many tries were made.
        case triesUsedUp(Int)
        /// The end: the client's `RetryBudget` for this origin is empty.
        case budgetIsEmpty
        /// The end: the next wait would last longer than the call may.
        case deadline(wait: Duration)
        /// The end: the server asks for a longer wait than the policy grants.
        case waitTooLong(Duration)
        /// The end: the server said not to try again.
        case vetoed
        /// The end: the call was cancelled, or another try was faster.
        case cancelled
    }
}

extension Attempt: CustomStringConvertible {
    /// One line: `1: status 503 after 34 ms; again in 120 ms, because it may pass`.
    public var description: String {
        "\(number): \(text)"
    }

    /// The line behind the number.
    package var text: String {
        let notes = notes.isEmpty ? "" : " (" + notes.joined(separator: ", ") + ")"
        let verdict = decision == .finish(because: .final) ? "" : "; \(decision)"
        return "\(outcome) after \(duration.brief)\(notes)\(verdict)"
    }
}

extension Attempt.Outcome: CustomStringConvertible {
    /// A status or the reason's label: `status 503`, `timedOut firstByte`.
    public var description: String {
        switch self {
        case .status(let status): "status \(status.code)"
        case .failed(let reason): NetworkError(reason).label
        }
    }
}

extension Attempt.Decision: CustomStringConvertible {
    /// `again in 120 ms, because it may pass`
    public var description: String {
        switch self {
        case .finish(let cause): "no more, because \(cause)"
        case .retry(let wait, let cause): "again \(wait > .zero ? "in \(wait.brief)" : "at once"), because \(cause)"
        }
    }
}

extension Attempt.Cause: CustomStringConvertible {
    /// The reason as the end of a sentence.
    public var description: String {
        switch self {
        case .transient: "it may pass"
        case .neverArrived: "the server cannot have got it"
        case .serverAsked: "the server asked for it"
        case .offline: "there was no way to the server"
        case .renewed: "the credential was renewed"
        case .challenged: "the server asked for a credential"
        case .appRule: "a rule of the app says so"
        case .hedge: "another try takes long"
        case .final: "trying again would not change it"
        case .notIdempotent: "the server may have acted on it, and it must not happen twice"
        case .bodyIsGone: "the body cannot be sent again"
        case .triesUsedUp(let count): "\(count) tries were made"
        case .budgetIsEmpty: "the retry budget is empty"
        case .deadline(let wait): "the call ends before a wait of \(wait.brief) does"
        case .waitTooLong(let wait): "the server asks to wait \(wait.brief), which is longer than the policy grants"
        case .vetoed: "the server said so"
        case .cancelled: "it was cancelled"
        }
    }
}
