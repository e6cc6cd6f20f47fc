// SPDX-License-Identifier: MIT
//
// The few functions of the system's libcrypto that are used. On other platforms this module is empty. Its headers stay
// out of this one: they bring system types along, which Swift would then take for this module's.

#ifndef CURLEW_CCRYPTO_H
#define CURLEW_CCRYPTO_H

#if defined(__linux__)

#include <stddef.h>
#include <stdint.h>

/// Writes the 32 bytes of the SHA-256 of `length` bytes.
void curlew_sha256(const void *bytes, size_t length, uint8_t *digest);

/// Writes the 16 bytes of the MD5 of `length` bytes. False where the system forbids MD5.
int curlew_md5(const void *bytes, size_t length, uint8_t *digest);

/// Writes the 32 bytes of the HMAC-SHA-256 of `length` bytes. False without memory.
int curlew_hmac_sha256(
    const void *key, size_t key_length, const void *bytes, size_t length, uint8_t *digest);

#endif
#endif
