// SPDX-License-Identifier: MIT

#include "CCrypto.h"

#if defined(__linux__)

#include <openssl/crypto.h>
#include <openssl/sha.h>

void curlew_sha256(const void *bytes, size_t length, uint8_t *digest) {
    // Whoever uses the library first decides whether it tears itself down when the process ends, under a thread that
    // may still use it.
    OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
    SHA256(bytes, length, digest);
}

#endif
