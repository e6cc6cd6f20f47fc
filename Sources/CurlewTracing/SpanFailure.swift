// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// The class and the message of a failure, as a span shows them.
struct SpanFailure: Sendable {
    /// The attribute `error.type`: the status code, or the name of the reason (`NetworkError.Reason.errorType`).
    let type: String
    /// The redacted message; empty if the status code explains the failure.
    let message: String
    /// Whether the failure is one of the transfer of a request, and not of its result.
    let isOfTransfer: Bool

    init(_ error: NetworkError, _ redaction: Redaction) {
        type = error.reason.errorType
        if case .status = error.reason {
            message = ""
        } else {
            message = redaction.text(error.detail).clipped(to: 300).printable
        }
        switch error.reason {
        case .cancelled, .timedOut, .connectionLost, .badResponse, .limitExceeded: isOfTransfer = true
        default: isOfTransfer = false
        }
    }

    func write(to span: inout TraceSpan) {
        span["error.type"] = .string(type)
        span.status = .error(message: message)
    }
}
