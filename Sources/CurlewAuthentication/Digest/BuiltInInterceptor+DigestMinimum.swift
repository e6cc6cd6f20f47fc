// SPDX-License-Identifier: MIT

public import CurlewCore

extension BuiltInInterceptor {
    /// The minimum strength of the digest challenges that a client responds to. The levels are ordered from weak to
    /// strong.
    ///
    /// An attacker who impersonates the server, or who eavesdrops on plain http, obtains a hash with which passwords
    /// can be tested offline. The algorithm determines how many passwords per second can be tested. Levels weaker than
    /// `sha256`, the default, must be allowed explicitly.
    public enum DigestMinimum: Comparable, Hashable, Sendable {
        /// Any supported algorithm, with or without `qop`. Servers of RFC 2069 offer no `qop`: the only nonce in the
        /// hash is then the server's, and an attacker who impersonates the server can choose it.
        case withoutProtection
        /// MD5 with `qop=auth`, the strongest level that Apache and many devices support.
        case md5
        /// SHA-256 with `qop=auth`, the strongest level. This is the default.
        case sha256
    }
}

extension BuiltInInterceptor.DigestMinimum: CustomStringConvertible {
    /// The name of the level in error messages, such as `SHA-256`.
    public var description: String {
        switch self {
        case .withoutProtection: "digest without qop (RFC 2069)"
        case .md5: "MD5"
        case .sha256: "SHA-256"
        }
    }

    /// The name of the enum case, for code in hints.
    var name: String {
        switch self {
        case .withoutProtection: "withoutProtection"
        case .md5: "md5"
        case .sha256: "sha256"
        }
    }
}
