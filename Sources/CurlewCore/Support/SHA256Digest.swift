// SPDX-License-Identifier: MIT

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif
#if canImport(CryptoKit)
import CryptoKit
#else
import CCrypto
#endif

/// SHA-256 (FIPS 180-4), by the system's own library.
package enum SHA256Digest {
    /// The 32 bytes of the digest.
    package static func of(_ bytes: Data) -> Data {
        #if canImport(CryptoKit)
        return Data(SHA256.hash(data: bytes))
        #else
        var digest = Data(count: 32)
        digest.withUnsafeMutableBytes { digest in
            bytes.withUnsafeBytes { bytes in
                curlew_sha256(bytes.baseAddress, bytes.count, digest.bindMemory(to: UInt8.self).baseAddress)
            }
        }
        return digest
        #endif
    }
}
