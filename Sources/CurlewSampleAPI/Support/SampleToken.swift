// SPDX-License-Identifier: MIT

import CurlewAuthentication
import CurlewCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The access tokens of the sample: JSON Web Tokens signed with HMAC-SHA256 (RFC 7519, RFC 7515 §A.1).
struct SampleToken: Codable, Equatable, Sendable {
    /// The account's identifier.
    let sub: Int
    /// When the token was issued and when it expires, in seconds since 1970.
    let iat, exp: Int64
    /// The identifier of its session.
    let jti: String

    private static let header = Base64URL.encode(Data(#"{"alg":"HS256","typ":"JWT"}"#.utf8))

    /// Returns the signed token as text.
    func signed(with key: Data) throws -> String {
        let body = Self.header + "." + Base64URL.encode(try JSONEncoder().encode(self))
        return body + "." + Base64URL.encode(MessageDigest.hmacSHA256(Data(body.utf8), key: key))
    }

    /// Parses a token that was signed with `key`. Does not check whether it has expired.
    ///
    /// The header must be identical to ours: the token must not choose the algorithm.
    init?(_ text: String, signedWith key: Data) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == Self.header, let signature = Base64URL.decode(parts[2].utf8),
            signature == MessageDigest.hmacSHA256(Data("\(parts[0]).\(parts[1])".utf8), key: key),
            let payload = Base64URL.decode(parts[1].utf8),
            let token = try? JSONDecoder().decode(SampleToken.self, from: payload)
        else { return nil }
        self = token
    }

    init(sub: Int, iat: Int64, exp: Int64, jti: String) {
        self.sub = sub
        self.iat = iat
        self.exp = exp
        self.jti = jti
    }
}
