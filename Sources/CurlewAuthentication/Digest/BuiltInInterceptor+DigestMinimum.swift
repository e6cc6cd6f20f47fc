// SPDX-License-Identifier: MIT

public import CurlewCore

extension BuiltInInterceptor {
    /// The weakest digest challenge that is accepted, ordered from weak to strong.
    ///
    /// An attacker who acts as the server, or who eavesdrops on plain http, obtains a text that allows testing
    /// passwords offline. The algorithm determines how many passwords per second can be tested. Levels weaker than the
    /// default must be allowed explicitly.
    public enum DigestMinimum: Int, Comparable, Hashable, Sendable {
        /// Also servers of RFC 2069, which offer no `qop`: the credential then contains only a nonce, which an attacker
        /// can choose.
        case withoutProtection
        /// MD5 with `qop=auth`, the only level that many devices and Apache support.
        case md5
        /// SHA-256, the default.
        case sha256
        /// SHA-512/256.
        case sha512Trunc256

        /// Orders levels from weak to strong.
        public static func < (left: BuiltInInterceptor.DigestMinimum, right: BuiltInInterceptor.DigestMinimum) -> Bool {
            left.rawValue < right.rawValue
        }
    }
}

extension BuiltInInterceptor.DigestMinimum: CustomStringConvertible {
    /// The name of the level in a sentence.
    public var description: String {
        switch self {
        case .withoutProtection: "digest without qop (RFC 2069)"
        case .md5: "MD5"
        case .sha256: "SHA-256"
        case .sha512Trunc256: "SHA-512-256"
        }
    }

    /// The name of the level in code.
    var name: String {
        switch self {
        case .withoutProtection: "withoutProtection"
        case .md5: "md5"
        case .sha256: "sha256"
        case .sha512Trunc256: "sha512Trunc256"
        }
    }
}
