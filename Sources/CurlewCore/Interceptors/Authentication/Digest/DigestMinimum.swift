// SPDX-License-Identifier: MIT

/// The weakest digest challenge that is answered, from weak to strong.
///
/// Whoever can act as the server, or reads along over plain http, gets a text by which passwords can be tried without the
/// server. How many in a second is decided by the algorithm, so what is weaker than the server needs has to be asked for.
public enum DigestMinimum: Int, Comparable, Hashable, Sendable {
    /// Also servers of RFC 2069, which offer no `qop`: a nonce of an attacker's choice is all that goes into the answer.
    case withoutProtection
    /// MD5 with `qop=auth`, which is all that many devices and Apache know.
    case md5
    /// SHA-256, the default.
    case sha256
    /// SHA-512/256.
    case sha512Trunc256

    /// Weaker.
    public static func < (left: DigestMinimum, right: DigestMinimum) -> Bool { left.rawValue < right.rawValue }
}

extension DigestMinimum: CustomStringConvertible {
    /// What a sentence calls it.
    public var description: String {
        switch self {
        case .withoutProtection: "digest without qop (RFC 2069)"
        case .md5: "MD5"
        case .sha256: "SHA-256"
        case .sha512Trunc256: "SHA-512-256"
        }
    }

    /// As it is written in code.
    var name: String {
        switch self {
        case .withoutProtection: "withoutProtection"
        case .md5: "md5"
        case .sha256: "sha256"
        case .sha512Trunc256: "sha512Trunc256"
        }
    }
}
