// SPDX-License-Identifier: MIT

import CurlewCore

extension NetworkError {
    /// The value of the attribute `error.type` by the OpenTelemetry conventions, in spans and in log entries as in
    /// metrics: the status code, or a name in snake case from a fixed set.
    var errorType: String { MetricsRegistry.name(of: reason) }
}
