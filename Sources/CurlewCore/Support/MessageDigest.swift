// SPDX-License-Identifier: MIT

public import CurlewFoundation

#if canImport(CryptoKit)
import CryptoKit
#else
import CCrypto
#endif

/// The hash functions for signing and authentication, from the system's library: libcrypto on Linux, CryptoKit on Apple
/// platforms.
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
