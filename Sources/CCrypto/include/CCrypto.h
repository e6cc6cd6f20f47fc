// SPDX-License-Identifier: MIT
//
// The functions of the system's libcrypto that Curlew uses on Linux. On other platforms this module is empty. This
// header does not include those of libcrypto: they include system types, which Swift would then attribute to this
// module.

#ifndef CURLEW_CCRYPTO_H
#define CURLEW_CCRYPTO_H

#if !defined(__APPLE__)

#include <stddef.h>
#include <stdint.h>

/// Writes the SHA-256 digest of `length` bytes: 32 bytes.
void curlew_sha256(const void *bytes, size_t length, uint8_t *digest);

/// Writes the MD5 digest of `length` bytes: 16 bytes. Returns 0 if the system forbids MD5.
int curlew_md5(const void *bytes, size_t length, uint8_t *digest);

/// Writes the HMAC-SHA-256 of `length` bytes: 32 bytes. Returns 0 if memory is exhausted or the key is longer than
/// INT_MAX bytes.
int curlew_hmac_sha256(
    const void *key, size_t key_length, const void *bytes, size_t length, uint8_t *digest);

/// A digest of bytes that arrive one after the other. One thread at a time may use it.
typedef struct curlew_digest curlew_digest;

/// Creates a SHA-256 digest if `bits` is 256, else a SHA-512 digest. Returns NULL if libcrypto failed.
curlew_digest *curlew_digest_create(int bits);

/// Adds bytes. Returns 0 if libcrypto failed.
int curlew_digest_update(curlew_digest *digest, const void *bytes, size_t length);

/// Writes the digest: 32 or 64 bytes. Returns 0 if libcrypto failed. Only `curlew_digest_free` may follow.
int curlew_digest_finish(curlew_digest *digest, uint8_t *output);

/// Releases a digest, which may be NULL.
void curlew_digest_free(curlew_digest *digest);

#endif
#endif
