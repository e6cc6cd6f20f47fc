// SPDX-License-Identifier: MIT

import Curlew

/// An access token of the sample service: a JSON Web Token signed with HMAC-SHA256 (RFC 7519, RFC 7515 §A.1).
struct SampleToken: Codable, Equatable, Sendable {
    /// The `id` of the account.
    let sub: Int
    /// The times at which the token was issued and at which it expires, in seconds since 1970.
    let iat, exp: Int64
    /// The `id` of the session.
    let jti: String

    private static let header = Base64URL.encode(Data(#"{"alg":"HS256","typ":"JWT"}"#.utf8))

    /// Returns the signed token as text.
    func signed(with key: Data) throws -> String {
        let body = Self.header + "." + Base64URL.encode(try JSONEncoder().encode(self))
        return body + "." + Base64URL.encode(MessageDigest.hmacSHA256(Data(body.utf8), key: key))
    }

    /// Parses a token that was signed with `key`. Does not check whether it has expired.
    ///
    /// The header must be identical to the one that `signed(with:)` writes, because the token must not determine the
    /// algorithm.
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

/// Base 64 with the URL alphabet and without padding (RFC 4648 §5).
private enum Base64URL {
    static func decode(_ text: some Collection<UInt8>) -> Data? {
        let standard = text.map {
            $0 == UInt8(ascii: "-") ? UInt8(ascii: "+") : $0 == UInt8(ascii: "_") ? UInt8(ascii: "/") : $0
        }
        let padding = [UInt8](repeating: UInt8(ascii: "="), count: (4 - standard.count % 4) % 4)
        return Data(base64Encoded: Data(standard + padding))
    }

    static func encode(_ bytes: Data) -> String {
        bytes.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
