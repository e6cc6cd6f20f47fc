// SPDX-License-Identifier: MIT

package import CurlewFoundation

/// The key with which credentials are hashed into principals.
///
/// Without a key, an attacker who reads a principal could find a short secret by trying all values. Most keys belong to
/// the process: their principals are meaningless outside it. A store that outlives the process has its own key
/// (`HTTPCache.Store.key`).
package struct PrincipalKey: Sendable {
    let bytes: Data
    /// Whether later processes have the same key.
    let isLasting: Bool

    /// Creates a key that later processes have too, such as the key of a persistent store.
    package init(lasting bytes: Data) {
        self.bytes = bytes
        isLasting = true
    }

    private init(ofProcess bytes: Data) {
        self.bytes = bytes
        isLasting = false
    }

    static let process = PrincipalKey(ofProcess: random())

    package static func random() -> Data {
        var random = SystemRandomNumberGenerator()
        return Data((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) })
    }
}
