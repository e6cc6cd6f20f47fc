// SPDX-License-Identifier: MIT

extension ExchangeMetrics.Connection.TLS {
    /// A version of TLS. Older versions are insecure and not offered (RFC 8996).
    public enum Version: Hashable, Sendable {
        /// TLS 1.2 (RFC 5246).
        case v12
        /// TLS 1.3 (RFC 8446).
        case v13
    }
}
