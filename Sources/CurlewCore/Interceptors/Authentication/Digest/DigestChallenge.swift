// SPDX-License-Identifier: MIT

import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A `Digest` challenge that can be met (RFC 7616 §3.3).
struct DigestChallenge {
    /// How the response is computed.
    struct Algorithm: Hashable {
        enum Function { case md5, sha256 }

        let function: Function
        let isSession: Bool

        /// Nil for one that is not known. Without a name it is MD5.
        init?(_ name: String?) {
            switch (name ?? "MD5").uppercased() {
            case "MD5": (function, isSession) = (.md5, false)
            case "MD5-SESS": (function, isSession) = (.md5, true)
            case "SHA-256": (function, isSession) = (.sha256, false)
            case "SHA-256-SESS": (function, isSession) = (.sha256, true)
            default: return nil
            }
        }

        var name: String { (function == .md5 ? "MD5" : "SHA-256") + (isSession ? "-sess" : "") }
        var strength: Int { function == .md5 ? 0 : 1 }

        /// `H` of the RFC; nil where the system forbids the function.
        func digest(_ text: String) -> String? {
            let bytes = Data(text.utf8)
            return function == .md5 ? MessageDigest.md5(bytes)?.hexText : MessageDigest.sha256(bytes).hexText
        }
    }

    let realm: String
    let nonce: String
    let opaque: String?
    let algorithm: Algorithm
    /// `qop=auth`; false for the servers of RFC 2069, which offer none.
    let hasProtection: Bool
    /// The nonce was too old; user and password were not the matter.
    let isStale: Bool
    let hashesUser: Bool
    /// Paths below which the challenge holds; empty for the whole origin. Other origins that a server names are left
    /// out: a credential belongs to one.
    private let space: [String]

    /// A longer nonce is not one that a server would send.
    static let lengthLimit = 4096

    /// Nil for another scheme, and for what cannot be met.
    init?(_ challenge: HTTPChallenge) {
        guard challenge.scheme == "digest", let nonce = challenge["nonce"], !nonce.isEmpty,
            let algorithm = Algorithm(challenge["algorithm"])
        else { return nil }
        let offered = challenge["qop"]?.split(whereSeparator: { ", \t".contains($0) }).map { $0.lowercased() } ?? []
        guard offered.isEmpty || offered.contains("auth") else { return nil }
        realm = challenge["realm"] ?? ""
        self.nonce = nonce
        opaque = challenge["opaque"]
        self.algorithm = algorithm
        hasProtection = !offered.isEmpty
        isStale = challenge["stale"]?.lowercased() == "true"
        hashesUser = challenge["userhash"]?.lowercased() == "true"
        guard [realm, nonce, opaque ?? ""].allSatisfy({ $0.utf8.count <= Self.lengthLimit }) else { return nil }
        space = challenge["domain"]?.split(separator: " ").filter { $0.hasPrefix("/") }.map(String.init) ?? []
    }

    /// Whether a path lies in the space, so that the credential may go with the first request already.
    func covers(_ target: String) -> Bool {
        guard !space.isEmpty else { return true }
        let path = target.prefix { $0 != "?" }
        return space.contains { place in
            path == place || path.hasPrefix(place.hasSuffix("/") ? place : place + "/")
        }
    }
}
