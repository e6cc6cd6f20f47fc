// SPDX-License-Identifier: MIT

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The key with which credentials are hashed into principals.
///
/// Without a key, a reader of a principal could find out a short secret by trying. Most keys belong to the process:
/// their principals mean nothing beyond it. A store that outlives the process has one of its own (`CacheStore.key`).
package struct PrincipalKey: Sendable {
    package let bytes: Data
    /// Whether another process has it too.
    package let isLasting: Bool

    /// A key that other processes have too.
    package init(lasting bytes: Data) {
        self.bytes = bytes
        isLasting = true
    }

    private init(ofProcess bytes: Data) {
        self.bytes = bytes
        isLasting = false
    }

    /// That of this process.
    package static let process = PrincipalKey(ofProcess: random())

    /// The bytes of a new key.
    package static func random() -> Data {
        var random = SystemRandomNumberGenerator()
        return Data((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) })
    }
}
