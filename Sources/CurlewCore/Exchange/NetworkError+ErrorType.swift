// SPDX-License-Identifier: MIT

import CurlewHTTP

extension NetworkError.Reason {
    /// The value of the attribute `error.type` by the OpenTelemetry conventions, in spans and in log entries as in
    /// metrics: the status code, or lower-case words joined by underscores, such as `timed_out_first_byte`, from a fixed
    /// set.
    package var errorType: String {
        switch self {
        case .cancelled: "cancelled"
        case .invalidRequest: "invalid_request"
        case .configuration: "configuration"
        case .encoding: "encoding"
        case .unreachable: "unreachable"
        case .proxyFailed(.unreachable): "proxy_unreachable"
        case .proxyFailed(.notAuthenticated): "proxy_not_authenticated"
        case .proxyFailed(.refused): "proxy_refused"
        case .secureConnectionFailed(let failure): "tls_" + Self.name(of: failure)
        case .timedOut(let phase): "timed_out_" + Self.name(of: phase)
        case .connectionLost(.requestNotSent): "connection_lost_request_not_sent"
        case .connectionLost(.requestMayHaveArrived): "connection_lost"
        case .badResponse: "bad_response"
        case .limitExceeded(.responseBody): "limit_exceeded_response_body"
        case .limitExceeded(.responseHeaders): "limit_exceeded_response_headers"
        case .limitExceeded(.redirects): "limit_exceeded_redirects"
        case .status(let status): "\(status.code)"
        case .decoding: "decoding"
        case .notAuthenticated(let failure): "not_authenticated_" + Self.name(of: failure)
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
        case .refreshFailed: "refresh_failed"
        case .tooManyRefreshes: "too_many_refreshes"
        case .refused: "refused"
        }
    }
}
