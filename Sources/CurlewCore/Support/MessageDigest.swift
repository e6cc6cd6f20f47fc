// SPDX-License-Identifier: MIT

public import CurlewFoundation

#if canImport(CryptoKit)
import CryptoKit
#else
import CCrypto
#endif

/// The hash functions for signing and authentication, from libcrypto on Linux and CryptoKit on Apple platforms.
public enum MessageDigest {
    /// Returns the 32 bytes of the SHA-256 (FIPS 180-4) of `bytes`.
    public static func sha256(_ bytes: Data) -> Data {
        #if canImport(CryptoKit)
        return Data(SHA256.hash(data: bytes))
        #else
        return digest(32) { output in
            bytes.withUnsafeBytes { curlew_sha256($0.baseAddress, $0.count, output) }
        }
        #endif
    }

    /// Returns the 32 bytes of the HMAC-SHA-256 (RFC 2104) of `bytes` under `key`.
    public static func hmacSHA256(_ bytes: Data, key: Data) -> Data {
        #if canImport(CryptoKit)
        return Data(HMAC<SHA256>.authenticationCode(for: bytes, using: SymmetricKey(data: key)))
        #else
        return digest(32) { output in
            bytes.withUnsafeBytes { bytes in
                key.withUnsafeBytes { key in
                    _ = curlew_hmac_sha256(key.baseAddress, key.count, bytes.baseAddress, bytes.count, output)
                }
            }
        }
        #endif
    }

    /// Returns the 16 bytes of the MD5 (RFC 1321) of `bytes`; nil where the system forbids MD5. Use it only for digest
    /// authentication with servers that support nothing better.
    package static func md5(_ bytes: Data) -> Data? {
        #if canImport(CryptoKit)
        return Data(Insecure.MD5.hash(data: bytes))
        #else
        var isAllowed = false
        let result = digest(16) { output in
            isAllowed = bytes.withUnsafeBytes { curlew_md5($0.baseAddress, $0.count, output) } == 1
        }
        return isAllowed ? result : nil
        #endif
    }

    /// Returns the SHA-256 or SHA-512 (FIPS 180-4) of the pieces that `read` passes to its argument. `bits` is 256 or
    /// 512. Uses constant memory. Throws what `read` throws. Empty, which equals no digest, if memory was exhausted.
    package static func sha2<Failure: Error>(
        _ bits: Int, reading read: ((UnsafeRawBufferPointer) -> Void) throws(Failure) -> Void
    ) throws(Failure) -> Data {
        #if canImport(CryptoKit)
        var (sha256, sha512) = (SHA256(), SHA512())
        try read { bits == 256 ? sha256.update(bufferPointer: $0) : sha512.update(bufferPointer: $0) }
        return bits == 256 ? Data(sha256.finalize()) : Data(sha512.finalize())
        #else
        let context = curlew_digest_create(Int32(bits))
        defer { curlew_digest_free(context) }
        var isValid = context != nil
        try read { isValid = isValid && curlew_digest_update(context, $0.baseAddress, $0.count) == 1 }
        let result = digest(bits / 8) { isValid = isValid && curlew_digest_finish(context, $0) == 1 }
        return isValid ? result : Data()
        #endif
    }

    #if !canImport(CryptoKit)
    private static func digest(_ count: Int, _ compute: (UnsafeMutablePointer<UInt8>?) -> Void) -> Data {
        var digest = Data(count: count)
        digest.withUnsafeMutableBytes { compute($0.bindMemory(to: UInt8.self).baseAddress) }
        return digest
    }
    #endif
}

extension Data {
    /// The bytes in hexadecimal, two lower-case digits per byte.
    package var hexText: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
