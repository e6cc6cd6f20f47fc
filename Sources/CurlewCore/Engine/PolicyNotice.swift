// SPDX-License-Identifier: MIT

/// What a policy of the pipeline did to a call before anything was sent: `ExchangeEvent.policy`.
///
/// Told where it happens, under the call that was the cause. Circuits that an app isolates or resets by hand are told by
/// `CircuitBreaker.changes()` alone.
public struct PolicyNotice: Hashable, Sendable {
    /// What it did.
    @nonexhaustive
    public enum Kind: Hashable, Sendable {
        /// The circuit opened, for this long.
        case circuitOpened(Duration)
        /// The time of the open circuit is over: trials pass.
        case circuitHalfOpened
        /// The circuit closed.
        case circuitClosed
        /// The call waited this long in the queue of a limit and goes on.
        case queued(Duration)
        /// The call is refused, or its time ended in the queue. Nothing was sent.
        case refused
        /// The `RetryBudget` does not pay for another sending.
        case budgetIsEmpty
        /// The response is that of the app's `.fallback`.
        case fellBack
    }

    /// What it did.
    public let kind: Kind
    /// Which policy, by its place: `.retry`, `.hedging`, `.circuitBreaker`, `.rateLimit`, `.concurrencyLimit`,
    /// `.fallback`.
    public let policy: Placement
    /// What the policy is kept for: an origin, a route, a key. At most 100 characters; may be what a key of the app says.
    public let scope: String
    /// Why, in a few words.
    public let cause: String

    /// A notice of one's own, for policies and observers of one's own.
    public init(_ kind: Kind, by policy: Placement, scope: String, cause: String) {
        self.kind = kind
        self.policy = policy
        self.scope = scope
        self.cause = cause
    }
}

extension PolicyNotice: CustomStringConvertible {
    /// One line: `the circuit of https://a.test opened for 4.2 s: 10 of 20 calls failed in 30 s`.
    public var description: String {
        let what =
            switch kind {
            case .circuitOpened(let time): "the circuit of \(scope) opened for \(time.brief)"
            case .circuitHalfOpened: "the circuit of \(scope) is half open"
            case .circuitClosed: "the circuit of \(scope) closed"
            case .queued(let time): "waited \(time.brief) in the queue of \(scope)"
            case .refused: "refused for \(scope)"
            case .fellBack: "answered by the fallback in place of \(scope)"
            case .budgetIsEmpty: "the retry budget of \(scope) is empty"
            }
        return cause.isEmpty ? what : "\(what): \(cause)"
    }
}
