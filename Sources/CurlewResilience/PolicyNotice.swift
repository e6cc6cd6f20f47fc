// SPDX-License-Identifier: MIT

public import CurlewCore

/// An action of a pipeline policy on a call before anything was sent: an event of `ExchangeEvent.feature`.
///
/// Recorded where it happens, for the call that caused it. Only `CircuitBreaker.changes()` reports circuits that an app
/// isolates or resets manually.
public struct PolicyNotice: FeatureEvent, Hashable {
    /// The action.
    @nonexhaustive
    public enum Kind: Hashable, Sendable {
        /// The circuit opened, for this long.
        case circuitOpened(Duration)
        /// The open time of the circuit has passed: trial calls are allowed.
        case circuitHalfOpened
        /// The circuit closed.
        case circuitClosed
        /// The call waited this long in the queue of a limit and continues.
        case queued(Duration)
        /// The call is refused, or its deadline passed in the queue. Nothing was sent.
        case refused
        /// The `RetryBudget` does not allow another attempt.
        case budgetExhausted
        /// The response is that of the app's `.fallback`.
        case fellBack
    }

    /// The action.
    public let kind: Kind
    /// The placement of the policy: `.retry`, `.hedging`, `.circuitBreaker`, `.rateLimit`, `.concurrencyLimit`,
    /// `.fallback`.
    public let policy: Placement
    /// The scope of the policy: an origin, a route, a key. At most 100 characters. It may be text from a key of the
    /// app.
    public let scope: String
    /// A short reason.
    public let cause: String

    /// Creates a notice, for custom policies and observers.
    public init(_ kind: Kind, by policy: Placement, scope: String, cause: String) {
        self.kind = kind
        self.policy = policy
        self.scope = scope
        self.cause = cause
    }
}

extension PolicyNotice {
    /// One line: `the circuit of https://a.test opened for 4.2 s: 10 of 20 calls failed in 30 s`.
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
