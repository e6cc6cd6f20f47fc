// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewHTTP

extension MetricsRegistry {
    /// Returns the name of a reason in `error.type`: lower-case words joined by underscores, such as
    /// `timed_out_first_byte`, from a fixed set. A status is its number: `503`.
    ///
    /// A refusal is `refused`, whatever the name of its policy; the events of the policy have more. A reason of a later
    /// version is `_OTHER`.
    public static func name(of reason: NetworkError.Reason) -> String { reason.errorType }
}

extension NetworkError.Attempt.Cause {
    /// The name of a cause without its values, for counters.
    var name: String {
        switch self {
        case .transient: "transient"
        case .notReceived: "not_received"
        case .serverAsked: "server_asked"
        case .offline: "offline"
        case .renewed: "renewed"
        case .challenged: "challenged"
        case .appRule: "app_rule"
        case .hedge: "hedge"
        case .final: "final"
        case .notIdempotent: "not_idempotent"
        case .bodyNotReplayable: "body_not_replayable"
        case .attemptsExhausted: "attempts_exhausted"
        case .budgetExhausted: "budget_exhausted"
        case .deadline: "deadline"
        case .waitTooLong: "wait_too_long"
        case .serverForbids: "server_forbids"
        case .cancelled: "cancelled"
        }
    }
}

extension ExchangeEvent.Warning {
    /// The name of the kind of warning, for counters.
    var name: String {
        switch self {
        case .pinMismatch: "warning.pin_mismatch"
        case .pinsExpired: "warning.pins_expired"
        case .pinsExpireSoon: "warning.pins_expire_soon"
        }
    }
}
