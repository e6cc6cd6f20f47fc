// SPDX-License-Identifier: MIT
//
// A look at the certificates of servers, by means of the OpenSSL that libcurl uses. Its functions are looked up when
// the program runs: libcurl may use another library for TLS, and the package does not link any.

#ifndef CURLEW_SERVER_CHECK_H
#define CURLEW_SERVER_CHECK_H

#if defined(__linux__)

#include <stdint.h>

/// Certificates in their order (a stack of X509).
typedef struct curlew_certificates curlew_certificates;

/// Called once for each handshake that verifies certificates, when OpenSSL has done so. `presented` is what the server
/// sent, its own certificate first; `path` is what OpenSSL has built of it and verified, from the server's certificate
/// to the trusted one, or NULL if the certificate is not trusted. Both are valid during the call. Zero ends the
/// handshake.
typedef int (*curlew_certificate_judge)(
    void *context, const curlew_certificates *presented, const curlew_certificates *path);

/// Called when the server asks for a certificate of the client, and there is none to show.
typedef void (*curlew_certificate_request)(void *context);

/// Called when nobody will use `context` any more.
typedef void (*curlew_certificate_release)(void *context);

/// OpenSSL otherwise frees what it has when `exit` is called, under the hands of an engine that still works. Only its
/// first initialisation decides, hence before libcurl's. It is looked up, because the package does not link libssl; a
/// program may have two, of which libcurl uses one.
void curlew_keep_openssl_until_exit(void);

/// Finds the functions of OpenSSL, and sets those that `curlew_check_certificates` has called. To be called once,
/// before all others here. 0 if libcurl uses another library, or another copy of OpenSSL than the program would find.
int curlew_find_openssl(
    curlew_certificate_judge judge, curlew_certificate_request request, curlew_certificate_release release);

/// Has the certificates judged that are verified under these settings (an SSL_CTX). It owns `context` from then on, and
/// releases it with the settings, which live as long as the connection. 0 if that is not possible; then the caller
/// still owns it.
int curlew_check_certificates(void *secure_context, void *context);

/// Keeps the secrets of connections with these settings (an SSL_CTX) out of the file that SSLKEYLOGFILE names. Call it
/// only if `curlew_can_remove_key_log`.
void curlew_remove_key_log(void *secure_context);

/// Whether OpenSSL has the function that `curlew_remove_key_log` needs.
int curlew_can_remove_key_log(void);

/// What the handshake of a connection agreed on. The texts are OpenSSL's and live as long as the program.
typedef struct {
    /// `TLSv1.3`, or NULL.
    const char *version;
    /// The registered name of the cipher suite, or NULL.
    const char *cipher_suite;
    /// 1 if an earlier session was resumed, -1 if that is not known.
    int is_resumed;
} curlew_handshake;

/// Reads what was agreed on for the connection that `easy` (a CURL) has at the moment. 0 if it is not known.
int curlew_read_handshake(void *easy, curlew_handshake *handshake);

/// What the server of that connection has presented; NULL if it is not known. Valid while the connection is.
const curlew_certificates *curlew_presented_certificates(void *easy);

/// Keeps certificates beyond the call in which they are valid; NULL without memory.
curlew_certificates *curlew_retain_certificates(const curlew_certificates *certificates);

/// Gives up what `curlew_retain_certificates` returned.
void curlew_release_certificates(curlew_certificates *certificates);

/// How many there are.
int curlew_certificate_count(const curlew_certificates *certificates);

/// Writes one certificate in DER form to `bytes`, which may be NULL, and returns how many bytes it has; 0 if it cannot
/// be written.
int curlew_certificate_bytes(const curlew_certificates *certificates, int place, uint8_t *bytes);

/// Writes the public key of one certificate (its SubjectPublicKeyInfo) as OpenSSL has read it, in the same way.
int curlew_certificate_key(const curlew_certificates *certificates, int place, uint8_t *bytes);

#endif
#endif
