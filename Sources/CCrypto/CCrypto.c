// SPDX-License-Identifier: MIT

#include "CCrypto.h"

#if !defined(__APPLE__)

#include <limits.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

/// Initialises libcrypto so that it does not free its memory when the process exits, because a thread may still use it
/// then. Only the first initialisation in the process can decide this.
static void prepare(void) {
    OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
}

void curlew_sha256(const void *bytes, size_t length, uint8_t *digest) {
    prepare();
    SHA256(bytes, length, digest);
}

int curlew_md5(const void *bytes, size_t length, uint8_t *digest) {
    prepare();
    return EVP_Digest(bytes, length, digest, NULL, EVP_md5(), NULL) == 1;
}

int curlew_hmac_sha256(
    const void *key, size_t key_length, const void *bytes, size_t length, uint8_t *digest) {
    prepare();
    // A NULL key would select the key of an earlier call.
    if (key_length > INT_MAX) return 0;
    return HMAC(EVP_sha256(), key == NULL ? "" : key, (int)key_length, bytes, length, digest, NULL) != NULL;
}

curlew_digest *curlew_digest_create(int bits) {
    prepare();
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    if (context == NULL) return NULL;
    if (EVP_DigestInit_ex(context, bits == 256 ? EVP_sha256() : EVP_sha512(), NULL) != 1) {
        EVP_MD_CTX_free(context);
        return NULL;
    }
    return (curlew_digest *)context;
}

int curlew_digest_update(curlew_digest *digest, const void *bytes, size_t length) {
    return EVP_DigestUpdate((EVP_MD_CTX *)digest, bytes, length) == 1;
}

int curlew_digest_finish(curlew_digest *digest, uint8_t *output) {
    return EVP_DigestFinal_ex((EVP_MD_CTX *)digest, output, NULL) == 1;
}

void curlew_digest_free(curlew_digest *digest) {
    EVP_MD_CTX_free((EVP_MD_CTX *)digest);
}

#endif
