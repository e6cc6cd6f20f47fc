// SPDX-License-Identifier: MIT

package import CurlewFoundation
package import CurlewHTTP

#if canImport(CryptoKit)
import CryptoKit
#else
import CCrypto
#endif

extension MessageDigest {
    /// The SHA-256 or SHA-512 (FIPS 180-4) of bytes that arrive one after the other, such as those of a file.
    ///
    /// Uses constant memory. Used by one task at a time.
    package final class Incremental {
        let algorithm: DigestField.Algorithm
        #if canImport(CryptoKit)
        private var sha256: SHA256?
        private var sha512: SHA512?
        #else
        /// Nil if memory was exhausted, and after the end.
        private var context: OpaquePointer?
        #endif

        package init(_ algorithm: DigestField.Algorithm) {
            self.algorithm = algorithm
            #if canImport(CryptoKit)
            if algorithm == .sha256 { sha256 = SHA256() } else { sha512 = SHA512() }
            #else
            context = curlew_digest_create(algorithm == .sha256 ? 256 : 512)
            #endif
        }

        #if !canImport(CryptoKit)
        deinit { curlew_digest_free(context) }
        #endif

        /// Adds bytes. Has no effect after `finish()`.
        package func update(_ bytes: UnsafeRawBufferPointer) {
            #if canImport(CryptoKit)
            sha256?.update(bufferPointer: bytes)
            sha512?.update(bufferPointer: bytes)
            #else
            guard let digest = context, curlew_digest_update(digest, bytes.baseAddress, bytes.count) != 1 else {
                return
            }
            curlew_digest_free(digest)
            context = nil
            #endif
        }

        /// Adds bytes. Has no effect after `finish()`.
        package func update(_ bytes: Data) {
            bytes.withUnsafeBytes { update($0) }
        }

        /// Returns the digest of all bytes and ends it: 32 or 64 bytes. Empty, which equals no digest, if memory was
        /// exhausted and if the digest has already ended.
        package func finish() -> Data {
            #if canImport(CryptoKit)
            defer { (sha256, sha512) = (nil, nil) }
            return sha256.map { Data($0.finalize()) } ?? sha512.map { Data($0.finalize()) } ?? Data()
            #else
            guard let digest = context else { return Data() }
            context = nil
            defer { curlew_digest_free(digest) }
            var result = Data(count: algorithm.length)
            let isDone = result.withUnsafeMutableBytes {
                curlew_digest_finish(digest, $0.bindMemory(to: UInt8.self).baseAddress) == 1
            }
            return isDone ? result : Data()
            #endif
        }
    }
}
