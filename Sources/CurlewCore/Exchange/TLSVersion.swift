// SPDX-License-Identifier: MIT

/// Versions of TLS. Older ones are broken and not offered (RFC 8996).
public enum TLSVersion: Hashable, Sendable {
    /// TLS 1.2.
    case v12
    /// TLS 1.3.
    case v13
}
