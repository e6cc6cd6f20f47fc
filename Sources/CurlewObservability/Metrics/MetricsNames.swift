// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewHTTP

extension MetricsRegistry {
    /// Returns the name of a reason in `error.type`: lower-case words joined by underscores, such as
    /// `timed_out_first_byte`, from a fixed set. A status is its number: `503`.
    ///
    /// A refusal is `refused`, whatever the name of its policy; the events of the policy have more. A reason of a later
    /// version is `_OTHER`.
    public static func name(of reason: NetworkError.Reason) -> String {
        switch reason {
        case .cancelled: "cancelled"
        case .invalidRequest: "invalid_request"
        case .configuration: "configuration"
        case .encoding: "encoding"
        case .unreachable: "unreachable"
        case .proxyFailed(.unreachable): "proxy_unreachable"
        case .proxyFailed(.notAuthenticated): "proxy_not_authenticated"
        case .proxyFailed(.refused): "proxy_refused"
        case .secureConnectionFailed(let failure): "tls_" + name(of: failure)
        case .timedOut(let phase): "timed_out_" + name(of: phase)
        case .connectionLost(.requestNotSent): "connection_lost_request_not_sent"
        case .connectionLost(.requestMayHaveArrived): "connection_lost"
        case .badResponse: "bad_response"
        case .limitExceeded(.responseBody): "limit_exceeded_response_body"
        case .limitExceeded(.responseHeaders): "limit_exceeded_response_headers"
        case .limitExceeded(.redirects): "limit_exceeded_redirects"
        case .status(let status): "\(status.code)"
        case .decoding: "decoding"
        case .notAuthenticated(let failure): "not_authenticated_" + name(of: failure)
        case .refused: "refused"
        case .storage: "storage"
        case .interceptor: "interceptor"
        }
    }

    private static func name(of failure: NetworkError.TLSFailure) -> String {
        switch failure {
        case .expired: "expired"
        case .notYetValid: "not_yet_valid"
        case .untrusted: "untrusted"
        case .wrongHost: "wrong_host"
        case .pinMismatch: "pin_mismatch"
        case .clientCertificate: "client_certificate"
        case .handshake: "handshake"
        }
    }

    private static func name(of phase: NetworkError.Phase) -> String {
        switch phase {
        case .queue: "queue"
        case .connect: "connect"
        case .firstByte: "first_byte"
        case .idle: "idle"
        case .attempt: "attempt"
        case .total: "total"
        }
    }

    private static func name(of failure: NetworkError.AuthFailure) -> String {
        switch failure {
        case .missingCredential: "missing_credential"
        case .sourceFailed: "source_failed"
        case .signedOut: "signed_out"
        case .refreshRefused: "refresh_refused"
        case .tooManyRefreshes: "too_many_refreshes"
        case .refused: "refused"
        }
    }
}

extension Attempt.Cause {
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
