// SPDX-License-Identifier: MIT
//
// Access to the certificates of servers through the OpenSSL that libcurl uses. OpenSSL's functions are looked up at run
// time: libcurl may use another TLS library, and the package does not link any.

#ifndef CURLEW_SERVER_CHECK_H
#define CURLEW_SERVER_CHECK_H

#if defined(__linux__)

#include <stdint.h>

/// An ordered list of certificates (OpenSSL's stack of X509).
typedef struct curlew_certificates curlew_certificates;

/// Called once for each handshake that verifies certificates, after OpenSSL's verification. `presented` contains the
/// certificates that the server sent, its own first. `path` contains the certificates that OpenSSL verified, from the
/// server's own to the trusted one; it is NULL if the server's certificate is not trusted. Both lists are valid during
/// the call. The handshake fails if the result is 0 or `path` is NULL.
typedef int (*curlew_certificate_judge)(
    void *context, const curlew_certificates *presented, const curlew_certificates *path);

/// Called when the server requests a client certificate and none is configured.
typedef void (*curlew_certificate_request)(void *context);

/// Called when `context` is no longer used.
typedef void (*curlew_certificate_release)(void *context);

/// Keeps OpenSSL from freeing its memory when `exit` is called, because event loops may still use it then. OpenSSL's
/// first initialisation decides this, so call this function before libcurl is initialised. A program may have loaded
/// two copies of OpenSSL, of which libcurl uses one; the function applies to both.
void curlew_keep_openssl_until_exit(void);

/// Finds the functions of OpenSSL, and sets the callbacks for `curlew_check_certificates`. Call this function once,
/// before all functions below. Returns 0 if libcurl uses another TLS library, or another copy of OpenSSL than the
/// program would find, or if OpenSSL lacks a function.
int curlew_find_openssl(
    curlew_certificate_judge judge, curlew_certificate_request request, curlew_certificate_release release);

/// Makes OpenSSL call the judge with `context` for all certificates that it verifies with these settings (an SSL_CTX).
/// The settings then own `context`. They exist as long as the connection, and release `context` when they are freed.
/// Returns 0 on failure; the caller then still owns `context`.
int curlew_check_certificates(void *secure_context, void *context);

/// Keeps the secrets of connections with these settings (an SSL_CTX) out of the file that SSLKEYLOGFILE names. Call
/// this function only if `curlew_can_remove_key_log` does not return 0.
void curlew_remove_key_log(void *secure_context);

/// Returns whether OpenSSL has the function that `curlew_remove_key_log` needs.
int curlew_can_remove_key_log(void);

/// The TLS parameters that a connection negotiated. The texts belong to OpenSSL and are valid until the program ends.
typedef struct {
    /// The TLS version, such as `TLSv1.3`, or NULL.
    const char *version;
    /// The registered name of the cipher suite, or NULL.
    const char *cipher_suite;
    /// 1 if an earlier session was resumed, 0 if not, -1 if this is unknown.
    int is_resumed;
} curlew_handshake;

/// Reads the TLS parameters of the current connection of `easy` (a CURL). Returns 0 if they are unknown.
int curlew_read_handshake(void *easy, curlew_handshake *handshake);

/// Returns the certificates that the server of the current connection of `easy` (a CURL) presented, or NULL if they are
/// unknown. They are valid until the connection closes.
const curlew_certificates *curlew_presented_certificates(void *easy);

/// Retains certificates beyond the call in which they are valid. Returns NULL if memory is exhausted or `certificates`
/// is NULL.
curlew_certificates *curlew_retain_certificates(const curlew_certificates *certificates);

/// Releases certificates that `curlew_retain_certificates` returned. Does nothing if `certificates` is NULL.
void curlew_release_certificates(curlew_certificates *certificates);

/// Returns the number of certificates; 0 for NULL.
int curlew_certificate_count(const curlew_certificates *certificates);

/// Writes the certificate at the index `place` in DER format to `bytes`, unless `bytes` is NULL. Returns its length in
/// bytes; 0 if there is no certificate at `place`, or it cannot be encoded.
int curlew_certificate_bytes(const curlew_certificates *certificates, int place, uint8_t *bytes);

/// Writes the public key of one certificate (its SubjectPublicKeyInfo) in the same way, as OpenSSL has parsed it.
int curlew_certificate_key(const curlew_certificates *certificates, int place, uint8_t *bytes);

#endif
#endif
