// SPDX-License-Identifier: MIT

import CurlewCore
package import CurlewFoundation

/// The lifetime claims of a JSON Web Token (RFC 7519 §4.1).
///
/// The claims are not verified: only the server that issued a token can determine whether it is genuine. Use them only
/// to decide when to refresh.
struct JWTClaims {
    /// The `exp` claim: the time from which the token must not be used.
    let expiresAt: Date?
    /// The `iat` claim: the time when the token was issued.
    let issuedAt: Date?

    private struct Payload: Decodable {
        let exp: Double?
        let iat: Double?
    }

    /// The maximum length of a token in bytes. A longer token is not parsed.
    private static let lengthLimit = 16 << 10

    /// Parses a token without verifying it. Returns nil if `token` is not a JSON Web Token in its compact form, or is
    /// longer than 16 KiB.
    init?(_ token: String) {
        let utf8 = token.utf8
        guard utf8.count <= Self.lengthLimit else { return nil }
        let parts = utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let payload = Base64URL.decode(parts[1]),
            let claims = try? JSONDecoder().decode(Payload.self, from: payload)
        else { return nil }
        expiresAt = Self.date(claims.exp)
        issuedAt = Self.date(claims.iat)
    }

    private static func date(_ seconds: Double?) -> Date? {
        guard let seconds, seconds.isFinite, abs(seconds) < 1e11 else { return nil }
        return Date(timeIntervalSince1970: seconds)
    }
}

/// Base 64 with the URL alphabet and without padding (RFC 4648 §5).
package enum Base64URL {
    package static func decode(_ text: some Collection<UInt8>) -> Data? {
        var standard = text.map { byte in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: byte
            }
        }
        standard += Array(repeating: UInt8(ascii: "="), count: (4 - standard.count % 4) % 4)
        return Data(base64Encoded: Data(standard))
    }

    package static func encode(_ bytes: Data) -> String {
        String(
            decoding: bytes.base64EncodedData().compactMap { byte -> UInt8? in
                switch byte {
                case UInt8(ascii: "+"): UInt8(ascii: "-")
                case UInt8(ascii: "/"): UInt8(ascii: "_")
                case UInt8(ascii: "="): nil
                default: byte
                }
            }, as: UTF8.self)
    }
}
