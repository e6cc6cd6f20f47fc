// SPDX-License-Identifier: MIT
//
// The few functions of the system's libcrypto that are used. On other platforms this module is empty.

#ifndef CURLEW_CCRYPTO_H
#define CURLEW_CCRYPTO_H

#if defined(__linux__)

#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <stddef.h>
#include <stdint.h>

/// Writes the 32 bytes of the SHA-256 of `length` bytes.
static inline void curlew_sha256(const void *bytes, size_t length, uint8_t *digest) {
    // Whoever uses the library first decides whether it tears itself down when the process ends, under a thread that may
    // still use it.
    OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
    SHA256((const unsigned char *)bytes, length, digest);
}

#endif
#endif
