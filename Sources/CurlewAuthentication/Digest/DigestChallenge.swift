// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// A supported `Digest` challenge (RFC 7616 §3.3).
struct DigestChallenge {
    /// The algorithm that computes the digest response: a hash function, with or without the session variant (`-sess`).
    struct Algorithm: Hashable {
        enum Function { case md5, sha256 }

        let function: Function
        let isSession: Bool

        /// Parses the name of an algorithm. The default is MD5; returns nil for an unknown name.
        init?(_ name: String?) {
            switch (name ?? "MD5").uppercased() {
            case "MD5": (function, isSession) = (.md5, false)
            case "MD5-SESS": (function, isSession) = (.md5, true)
            case "SHA-256": (function, isSession) = (.sha256, false)
            case "SHA-256-SESS": (function, isSession) = (.sha256, true)
            default: return nil
            }
        }

        var name: String {
            let name =
                switch function {
                case .md5: "MD5"
                case .sha256: "SHA-256"
                }
            return name + (isSession ? "-sess" : "")
        }

        /// Returns the hash of `text` in hexadecimal (`H` in RFC 7616); nil if the system prohibits the hash function.
        func digest(_ text: String) -> String? {
            let bytes = Data(text.utf8)
            return switch function {
            case .md5: MessageDigest.md5(bytes)?.hexText
            case .sha256: MessageDigest.sha256(bytes).hexText
            }
        }
    }

    let realm: String
    let nonce: String
    let opaque: String?
    let algorithm: Algorithm
    /// Whether the challenge has an `algorithm` parameter. Without one, the credential has none (RFC 7616 §3.4).
    let namesAlgorithm: Bool
    /// Whether the challenge offers `qop=auth`. False if the server follows RFC 2069, because it then offers no `qop`.
    let hasProtection: Bool
    /// Whether the server refused the request because its nonce had expired, and not because of the user name or
    /// password.
    let isStale: Bool
    let hashesUser: Bool
    /// The path prefixes of the protection space; empty if it is the complete origin. Other origins that a server lists
    /// are ignored, because a credential belongs to one origin.
    private let space: [String]

    /// The maximum length of the realm, the nonce and `opaque`, in bytes. A challenge with a longer value is not
    /// supported.
    static let lengthLimit = 4096

    /// Parses a challenge. Returns nil for a scheme other than `Digest`, and for an unsupported challenge.
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

    /// The strength of the challenge: how hard it is to find the password from the credential. Without `qop`, the
    /// credential contains no client nonce: an attacker who chose the server's nonce may have precomputed a table of
    /// passwords for it, whatever the algorithm.
    var strength: BuiltInInterceptor.DigestMinimum {
        guard hasProtection else { return .withoutProtection }
        return switch algorithm.function {
        case .md5: .md5
        case .sha256: .sha256
        }
    }

    /// Returns whether the path of `target` is in the protection space, so that the credential may be sent without
    /// waiting for a challenge.
    func covers(_ target: String) -> Bool {
        guard !space.isEmpty else { return true }
        let path = target.upTo("?")
        return space.contains { entry in
            path.utf8.elementsEqual(entry.utf8) || path.begins(with: entry.ends(with: "/") ? entry : entry + "/")
        }
    }
}

/// An authentication challenge from `WWW-Authenticate`: a scheme and its parameters (RFC 9110 §11.6.1).
///
///     let fields = response.headers[values: .wwwAuthenticate]
///     for challenge in HTTPChallenge.list(fields) where challenge.scheme == "digest" {
///         challenge["realm"]
///     }
struct HTTPChallenge: Hashable, Sendable {
    /// The authentication scheme, in lower case: `basic`, `bearer`, `digest`.
    let scheme: String
    /// The parameters in order, with names in lower case. If a name repeats, the subscript returns the first value.
    let parameters: [Parameter]

    struct Parameter: Hashable, Sendable {
        /// The name of the parameter, in lower case.
        let name: String
        /// The value of the parameter, without quotes and escapes.
        let value: String
    }

    /// The maximum number of parameters of a challenge. Further ones are ignored.
    static let parameterLimit = 64
    /// The maximum number of challenges of all field values together. Further ones are ignored.
    static let challengeLimit = 64

    /// The value of the named parameter; nil if there is none. The name must be in lower case.
    subscript(name: String) -> String? {
        parameters.first { $0.name == name }?.value
    }

    /// Returns the challenges in all given field values, in order. The rest of a value after a malformed part is
    /// ignored.
    static func list(_ fields: [String]) -> [HTTPChallenge] {
        var found: [HTTPChallenge] = []
        for field in fields {
            var reader = FieldReader(field)
            found += reader.challenges(upTo: challengeLimit - found.count)
        }
        return found
    }

    /// Returns the parameters of a field value that consists of parameters only, such as `Authentication-Info` (RFC
    /// 7615).
    static func parameters(of field: String) -> [Parameter] {
        var reader = FieldReader(field)
        return reader.challengeParameters()
    }
}

extension FieldReader {
    /// Reads challenges up to a number. Commas separate both challenges and their parameters: a name without `=` begins
    /// the next challenge.
    fileprivate mutating func challenges(upTo limit: Int) -> [HTTPChallenge] {
        var found: [HTTPChallenge] = []
        while found.count < limit {
            skipCommas()
            guard let scheme = token() else { return found }
            skipBlanks()
            let parameters = challengeParameters()
            // Some schemes have a token instead of parameters.
            if parameters.isEmpty { remainder = remainder.drop { $0 != 0x2C } }
            found.append(HTTPChallenge(scheme: ASCII.lowercased(scheme), parameters: parameters))
        }
        return found
    }

    /// Reads parameters until the next challenge or the end. Those over the limit are parsed and left out, because they
    /// would otherwise be taken for challenges.
    fileprivate mutating func challengeParameters() -> [HTTPChallenge.Parameter] {
        var found: [HTTPChallenge.Parameter] = []
        while true {
            let start = self
            skipCommas()
            guard let name = token() else { return found }
            skipBlanks()
            guard take(0x3D) else {
                self = start
                return found
            }
            skipBlanks()
            guard let value = quotedString() ?? token() else {
                self = start
                return found
            }
            if found.count < HTTPChallenge.parameterLimit {
                found.append(HTTPChallenge.Parameter(name: ASCII.lowercased(name), value: value))
            }
            skipBlanks()
        }
    }

    private mutating func skipCommas() {
        skipBlanks()
        while take(0x2C) { skipBlanks() }
    }
}
