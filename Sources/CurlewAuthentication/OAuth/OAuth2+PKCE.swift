// SPDX-License-Identifier: MIT

import CurlewCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension OAuth2 {
    /// Proof Key for Code Exchange with S256 (RFC 7636): proves that the client that exchanges an authorization code is
    /// the one that requested it. Create one for each sign-in, and keep it until the code has arrived.
    public struct PKCE: Hashable, Sendable {
        /// The secret that is sent with the code. 43–128 characters.
        public let verifier: String

        /// Creates a new secret of 256 bits with the system's generator.
        public init() {
            var random = SystemRandomNumberGenerator()
            let bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) }
            verifier = Base64URL.encode(Data(bytes))
        }

        /// Creates a proof from a stored secret. Nil unless it has 43–128 unreserved characters (RFC 7636 §4.1).
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

        /// The SHA-256 of the secret, sent with the authorization request.
        public var challenge: String {
            Base64URL.encode(MessageDigest.sha256(Data(verifier.utf8)))
        }
    }
}

extension OAuth2.PKCE: CustomStringConvertible, CustomReflectable {
    /// The challenge. Never the secret.
    public var description: String { "PKCE(\(challenge))" }

    /// Contains only the challenge.
    public var customMirror: Mirror { Mirror(self, children: ["challenge": challenge]) }
}
