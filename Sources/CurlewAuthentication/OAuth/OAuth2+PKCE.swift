// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
public import CurlewHTTP

extension OAuth2 {
    /// Proof Key for Code Exchange with S256 (RFC 7636): proves that the client that exchanges an authorization code is
    /// the one that requested it. Create a new proof key for each sign-in, and keep it until the code has been
    /// exchanged.
    public struct PKCE: Hashable, Sendable {
        /// The secret that is sent to exchange the authorization code. It has 43–128 characters.
        public let verifier: String

        /// Creates a proof key with a random secret of 256 bits from the system's generator.
        public init() {
            var random = SystemRandomNumberGenerator()
            let bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) }
            verifier = Base64URL.encode(Data(bytes))
        }

        /// Creates a proof key from a stored secret. Returns nil unless the secret has 43–128 unreserved characters
        /// (RFC 7636 §4.1).
        public init?(verifier: String) {
            let isSound = verifier.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                    UInt8(ascii: "~"):
                    true
                default: false
                }
            }
            guard isSound, (43...128).contains(verifier.utf8.count) else { return nil }
            self.verifier = verifier
        }

        /// The SHA-256 hash of the secret, in base64url. It is sent with the authorization request.
        public var challenge: String {
            Base64URL.encode(MessageDigest.sha256(Data(verifier.utf8)))
        }
    }
}

extension OAuth2.PKCE: MirroredByDescription {
    /// The challenge. The description never contains the secret.
    public var description: String { "PKCE(\(challenge))" }
}
