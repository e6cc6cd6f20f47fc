// SPDX-License-Identifier: MIT
//
// The few functions of the system's libcrypto that are used. On other platforms this module is empty.

#ifndef CURLEW_CCRYPTO_H
#define CURLEW_CCRYPTO_H

#if defined(__linux__)

#include <openssl/sha.h>
#include <stddef.h>
#include <stdint.h>

/// Writes the 32 bytes of the SHA-256 of `length` bytes.
static inline void curlew_sha256(const void *bytes, size_t length, uint8_t *digest) {
    SHA256((const unsigned char *)bytes, length, digest);
}

#endif
#endif
