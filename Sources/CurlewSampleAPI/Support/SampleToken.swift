// SPDX-License-Identifier: MIT

import CurlewCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The access tokens of the sample: JSON Web Tokens signed with HMAC-SHA256 (RFC 7519, RFC 7515 §A.1).
struct SampleToken: Codable, Equatable, Sendable {
    /// Whose it is.
    let sub: Int
    /// When it was made and when it ends, in seconds since 1970.
    let iat, exp: Int64
    /// Its session.
    let jti: String

    private static let header = Base64URL.encode(Data(#"{"alg":"HS256","typ":"JWT"}"#.utf8))

    /// The token as text.
    func signed(with key: Data) throws -> String {
        let body = Self.header + "." + Base64URL.encode(try JSONEncoder().encode(self))
        return body + "." + Base64URL.encode(MessageDigest.hmacSHA256(Data(body.utf8), key: key))
    }

    /// What a text says, if it was signed with `key`; its end is not looked at.
    ///
    /// The header must be ours byte for byte: which algorithm is used is not for the token to say.
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
