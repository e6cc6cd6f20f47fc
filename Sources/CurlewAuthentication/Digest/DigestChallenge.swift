// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A supported `Digest` challenge (RFC 7616 §3.3).
struct DigestChallenge {
    /// How the response is computed.
    struct Algorithm: Hashable {
        enum Function { case md5, sha256, sha512Trunc256 }

        let function: Function
        let isSession: Bool

        /// Nil for an unknown algorithm. The default is MD5.
        init?(_ name: String?) {
            switch (name ?? "MD5").uppercased() {
            case "MD5": (function, isSession) = (.md5, false)
            case "MD5-SESS": (function, isSession) = (.md5, true)
            case "SHA-256": (function, isSession) = (.sha256, false)
            case "SHA-256-SESS": (function, isSession) = (.sha256, true)
            case "SHA-512-256": (function, isSession) = (.sha512Trunc256, false)
            case "SHA-512-256-SESS": (function, isSession) = (.sha512Trunc256, true)
            default: return nil
            }
        }

        var name: String {
            let name =
                switch function {
                case .md5: "MD5"
                case .sha256: "SHA-256"
                case .sha512Trunc256: "SHA-512-256"
                }
            return name + (isSession ? "-sess" : "")
        }

        /// `H` of the RFC; nil where the system prohibits the function.
        func digest(_ text: String) -> String? {
            let bytes = Data(text.utf8)
            return switch function {
            case .md5: MessageDigest.md5(bytes)?.hexText
            case .sha256: MessageDigest.sha256(bytes).hexText
            case .sha512Trunc256: SHA512Trunc256.hash(bytes).hexText
            }
        }
    }

    let realm: String
    let nonce: String
    let opaque: String?
    let algorithm: Algorithm
    /// Whether the challenge has `algorithm`; without it, the credential has none (RFC 7616 §3.4).
    let namesAlgorithm: Bool
    /// `qop=auth`; false for servers of RFC 2069, which offer none.
    let hasProtection: Bool
    /// Whether the nonce had expired, as opposed to a wrong user name or password.
    let isStale: Bool
    let hashesUser: Bool
    /// The path prefixes of the protection space; empty for the whole origin. Other origins that a server lists are
    /// ignored: a credential belongs to one origin.
    private let space: [String]

    /// The maximum length of a nonce; servers send shorter ones.
    static let lengthLimit = 4096

    /// Nil for another scheme, and for an unsupported challenge.
    init?(_ challenge: HTTPChallenge) {
        guard challenge.scheme == "digest", let nonce = challenge["nonce"], !nonce.isEmpty,
            let algorithm = Algorithm(challenge["algorithm"])
        else { return nil }
        // Split by bytes: a comma followed by a combining mark is a different `Character`.
        let words = challenge["qop"]?.utf8.split { [0x20, 0x2C, 0x09].contains($0) } ?? []
        let offered = words.map { String(Substring($0)).lowercased() }
        guard offered.isEmpty || offered.contains("auth") else { return nil }
        realm = challenge["realm"] ?? ""
        self.nonce = nonce
        opaque = challenge["opaque"]
        self.algorithm = algorithm
        namesAlgorithm = challenge["algorithm"] != nil
        hasProtection = !offered.isEmpty
        isStale = challenge["stale"]?.lowercased() == "true"
        hashesUser = challenge["userhash"]?.lowercased() == "true"
        guard [realm, nonce, opaque ?? ""].allSatisfy({ $0.utf8.count <= Self.lengthLimit }) else { return nil }
        space = challenge["domain"]?.parts(" ").filter { $0.begins(with: "/") }.map(String.init) ?? []
    }

    /// How hard it is to find the password from the credential. Without `qop`, the credential contains no client nonce:
    /// an attacker who chose the server's nonce may have precomputed a table of passwords for it, whatever the
    /// algorithm.
    var strength: BuiltInInterceptor.DigestMinimum {
        guard hasProtection else { return .withoutProtection }
        return switch algorithm.function {
        case .md5: .md5
        case .sha256: .sha256
        case .sha512Trunc256: .sha512Trunc256
        }
    }

    /// Returns whether a path is in the protection space, so that the credential may be sent preemptively.
    func covers(_ target: String) -> Bool {
        guard !space.isEmpty else { return true }
        let path = target.upTo("?")
        return space.contains { place in
            path.utf8.elementsEqual(place.utf8) || path.begins(with: place.ends(with: "/") ? place : place + "/")
        }
    }
}
