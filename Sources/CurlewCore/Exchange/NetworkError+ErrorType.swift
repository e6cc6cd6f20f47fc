// SPDX-License-Identifier: MIT

import CurlewHTTP

extension NetworkError.Reason {
    /// The value of the attribute `error.type` by the OpenTelemetry conventions, in spans and in log entries as in
    /// metrics: the status code, or lower-case words joined by underscores, such as `timed_out_first_byte`, from a fixed
    /// set.
    package var errorType: String {
        switch self {
        case .status(let status): "\(status.code)"
        case .proxyFailed(.refused): "proxy_refused"
        case .proxyFailed(let failure): "proxy_" + "\(failure)".snakeCased
        case .secureConnectionFailed(let failure): "tls_" + "\(failure)".snakeCased
        case .connectionLost(.requestMayHaveArrived): "connection_lost"
        case .refused: "refused"
        default: description.parts(" ").map { String($0).snakeCased }.joined(separator: "_")
        }
    }
}
