// SPDX-License-Identifier: MIT

extension Pipeline {
    /// An event of a pipeline policy, such as a refusal, a wait in a queue, or a circuit that opened. Observers receive
    /// it as `ExchangeEvent.feature`.
    ///
    /// The event is recorded immediately, for the call that caused it.
    public struct PolicyEvent: ExchangeEvent.Feature, Hashable {
        /// The kind of event.
        @nonexhaustive
        public enum Kind: Hashable, Sendable {
            /// The circuit opened and stays open for this duration.
            case circuitOpened(Duration)
            /// The open time of the circuit has passed, so trial calls are allowed.
            case circuitHalfOpened
            /// The circuit closed, so all calls are allowed.
            case circuitClosed
            /// The call waited for this duration in the queue of a limit and then continued.
            case queued(Duration)
            /// The policy refused the request, or its deadline passed in the queue. The request was not sent.
            case refused
            /// The `RetryBudget` has too few tokens for another attempt or for a hedged request.
            case budgetExhausted
            /// The app's `.fallback` returned the response.
            case fellBack
        }

        /// The kind of event.
        public let kind: Kind
        /// The placement of the policy, such as `.retry` or `.circuitBreaker`.
        public let policy: Placement
        /// What the policy applied to: an origin, a route, a key or `all calls`. A route or key is clipped to 100
        /// bytes, and a key may contain text from the app.
        public let scope: String
        /// The reason in a few words, such as `10 of 20 calls failed in 30 s`; may be empty.
        public let cause: String

        /// Creates an event, for custom policies and for tests of observers.
        public init(_ kind: Kind, by policy: Placement, scope: String, cause: String) {
            self.kind = kind
            self.policy = policy
            self.scope = scope
            self.cause = cause
        }
    }
}

extension Pipeline.PolicyEvent {
    /// The name of the kind of event: `policy.circuit_opened`, `policy.circuit_half_opened`, `policy.circuit_closed`,
    /// `policy.queued`, `policy.refused`, `policy.budget_exhausted` or `policy.fell_back`.
    public var name: String {
        switch kind {
        case .circuitOpened: "policy.circuit_opened"
        case .circuitHalfOpened: "policy.circuit_half_opened"
        case .circuitClosed: "policy.circuit_closed"
        case .queued: "policy.queued"
        case .refused: "policy.refused"
        case .budgetExhausted: "policy.budget_exhausted"
        case .fellBack: "policy.fell_back"
        }
    }

    /// A description on one line, such as
    /// `the circuit of https://a.test opened for 4.2 s: 10 of 20 calls failed in 30 s`.
    public var description: String {
        let what =
            switch kind {
            case .circuitOpened(let time): "the circuit of \(scope) opened for \(time.brief)"
            case .circuitHalfOpened: "the circuit of \(scope) is half open"
            case .circuitClosed: "the circuit of \(scope) closed"
            case .queued(let time): "waited \(time.brief) in the queue of \(scope)"
            case .refused: "refused for \(scope)"
            case .fellBack: "the fallback responded in place of \(scope)"
            case .budgetExhausted: "the retry budget of \(scope) is empty"
            }
        return cause.isEmpty ? what : "\(what): \(cause)"
    }
}
