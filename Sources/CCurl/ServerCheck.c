// SPDX-License-Identifier: MIT

#define _GNU_SOURCE 1
#include "CCurl.h"

#if defined(__linux__)

#include <dlfcn.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>

// The functions of OpenSSL: those that checks need, and those without which less is known.
#define NEEDED(X) \
    X(set_verify, SSL_CTX_set_cert_verify_callback) \
    X(set_data, SSL_CTX_set_ex_data) \
    X(new_index, CRYPTO_get_ex_new_index) \
    X(verify, X509_verify_cert) \
    X(presented, X509_STORE_CTX_get0_untrusted) \
    X(path, X509_STORE_CTX_get0_chain) \
    X(set_error, X509_STORE_CTX_set_error) \
    X(retain, X509_chain_up_ref) \
    X(free_certificate, X509_free) \
    X(free_all, OPENSSL_sk_pop_free) \
    X(count, OPENSSL_sk_num) \
    X(value, OPENSSL_sk_value) \
    X(bytes, i2d_X509) \
    X(key, X509_get_X509_PUBKEY) \
    X(key_bytes, i2d_X509_PUBKEY)
#define USEFUL(X) \
    X(data, SSL_CTX_get_ex_data) \
    X(settings, SSL_get_SSL_CTX) \
    X(set_client_certificate, SSL_CTX_set_client_cert_cb) \
    X(protocol, SSL_get_version) \
    X(cipher, SSL_get_current_cipher) \
    X(cipher_name, SSL_CIPHER_standard_name) \
    X(is_resumed, SSL_session_reused) \
    X(chain, SSL_get_peer_cert_chain)

static struct {
    __typeof__(&SSL_CTX_set_keylog_callback) set_key_log;
#define MEMBER(member, name) __typeof__(&name) member;
    NEEDED(MEMBER)
    USEFUL(MEMBER)
} openssl;

/// The index at which an SSL_CTX stores the context of its check; -1 if checks are not possible.
static int data_index = -1;
static curlew_certificate_judge judge_certificates;
static curlew_certificate_request note_request;
static curlew_certificate_release release_context;

/// Returns a function of the OpenSSL that libcurl uses, or NULL if the program would find a different one. The program
/// may have loaded a second OpenSSL for other purposes, whose functions cannot use the structures of the first. So the
/// program must find the same function by its name alone, or by its name and the symbol version in libcurl's OpenSSL.
/// OpenSSL 1.1 and 3, whose symbol versions differ, can be loaded side by side.
static void *find(void *libcurl, const char *name) {
    void *function = dlsym(libcurl, name);
    if (function == NULL || function == dlsym(RTLD_DEFAULT, name)) return function;
#if defined(__GLIBC__)
    static const char *const versions[] = {"OPENSSL_3.0.0", "OPENSSL_1_1_0", "OPENSSL_1_1_1"};
    for (size_t index = 0; index < sizeof versions / sizeof *versions; index++) {
        if (dlvsym(libcurl, name, versions[index]) == function)
            return dlvsym(RTLD_DEFAULT, name, versions[index]) == function ? function : NULL;
    }
#endif
    return NULL;
}

static void *open_libcurl(void) {
    // The address of the function that the compiler knows may be that of a stub inside the program.
    void *symbol = dlsym(RTLD_DEFAULT, "curl_easy_init");
    Dl_info information;
    if (symbol == NULL || dladdr(symbol, &information) == 0 || information.dli_fname == NULL) return NULL;
    return dlopen(information.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

void curlew_keep_openssl_until_exit(void) {
    typedef int (*initialise)(uint64_t options, const void *settings);
    void *libcurl = open_libcurl();
    initialise first = (initialise)dlsym(RTLD_DEFAULT, "OPENSSL_init_crypto");
    initialise own = libcurl == NULL ? NULL : (initialise)dlsym(libcurl, "OPENSSL_init_crypto");
    if (first != NULL) first(OPENSSL_INIT_NO_ATEXIT, NULL);
    if (own != NULL && own != first) own(OPENSSL_INIT_NO_ATEXIT, NULL);
}

static int uses_openssl(void) {
    curl_version_info_data *version = curl_version_info(CURLVERSION_NOW);
    // If libcurl was built with several TLS libraries, those that it does not use follow in parentheses.
    return version != NULL && version->ssl_version != NULL && strncmp(version->ssl_version, "OpenSSL/", 8) == 0;
}

/// Releases the context of an SSL_CTX that is freed. OpenSSL also calls this function for connections of other code in
/// the program, which have no context.
static void free_data(
    void *parent, void *context, CRYPTO_EX_DATA *data, int index, long argument, void *pointer) {
    (void)parent;
    (void)data;
    (void)index;
    (void)argument;
    (void)pointer;
    if (context != NULL) release_context(context);
}

int curlew_find_openssl(
    curlew_certificate_judge judge, curlew_certificate_request request, curlew_certificate_release release) {
    // Forks of OpenSSL have this function too, and no structure is examined here. The function must be that of
    // libcurl's own OpenSSL: a libcurl with OpenSSL linked statically exports none of OpenSSL's functions, and the
    // functions of another OpenSSL would corrupt its structures.
    void *libcurl = open_libcurl();
    const char *key_log = "SSL_CTX_set_keylog_callback";
    openssl.set_key_log = (__typeof__(openssl.set_key_log))(
        libcurl != NULL ? find(libcurl, key_log) : dlsym(RTLD_DEFAULT, key_log));
    if (libcurl == NULL || !uses_openssl()) return 0;
    judge_certificates = judge;
    note_request = request;
    release_context = release;
#define FIND(member, name) openssl.member = (__typeof__(openssl.member))find(libcurl, #name);
    NEEDED(FIND)
    USEFUL(FIND)
#define IS_FOUND(member, name) && openssl.member != NULL
    int has_all = 1 NEEDED(IS_FOUND);
    if (has_all) data_index = openssl.new_index(CRYPTO_EX_INDEX_SSL_CTX, 0, NULL, NULL, NULL, free_data);
    return data_index >= 0;
}

/// Verifies certificates in place of OpenSSL: performs OpenSSL's own verification first, then calls the judge.
static int verify(X509_STORE_CTX *store, void *context) {
    // A negative result means that OpenSSL could not perform the verification.
    int is_trusted = openssl.verify(store) == 1;
    const curlew_certificates *presented = (const curlew_certificates *)openssl.presented(store);
    const curlew_certificates *path = is_trusted ? (const curlew_certificates *)openssl.path(store) : NULL;
    int is_admitted = judge_certificates(context, presented, path);
    if (!is_trusted) return 0;
    if (!is_admitted) openssl.set_error(store, X509_V_ERR_APPLICATION_VERIFICATION);
    return is_admitted;
}

/// Called when a server requests a client certificate and none is configured. Records the request and provides none.
static int miss_certificate(SSL *connection, X509 **certificate, EVP_PKEY **key) {
    (void)certificate;
    (void)key;
    void *context = openssl.data(openssl.settings(connection), data_index);
    if (context != NULL) note_request(context);
    return 0;
}

int curlew_check_certificates(void *secure_context, void *context) {
    if (data_index < 0 || secure_context == NULL) return 0;
    if (openssl.set_data(secure_context, data_index, context) != 1) return 0;
    openssl.set_verify(secure_context, verify, context);
    if (openssl.set_client_certificate && openssl.data && openssl.settings)
        openssl.set_client_certificate(secure_context, miss_certificate);
    return 1;
}

int curlew_can_remove_key_log(void) {
    return openssl.set_key_log != NULL;
}

void curlew_remove_key_log(void *secure_context) {
    // libcurl sets its callback before it passes the settings to others, so this call removes it.
    openssl.set_key_log(secure_context, NULL);
}

/// Returns OpenSSL's object for the current connection of a handle, or NULL if libcurl does not use OpenSSL.
static SSL *secure_side(void *easy) {
    struct curl_tlssessioninfo *information = NULL;
    if (curl_easy_getinfo((CURL *)easy, CURLINFO_TLS_SSL_PTR, &information) != CURLE_OK || information == NULL)
        return NULL;
    return information->backend == CURLSSLBACKEND_OPENSSL ? (SSL *)information->internals : NULL;
}

int curlew_read_handshake(void *easy, curlew_handshake *handshake) {
    if (!openssl.protocol || !openssl.cipher || !openssl.cipher_name) return 0;
    SSL *side = secure_side(easy);
    if (side == NULL) return 0;
    const SSL_CIPHER *cipher = openssl.cipher(side);
    handshake->version = openssl.protocol(side);
    handshake->cipher_suite = cipher == NULL ? NULL : openssl.cipher_name(cipher);
    handshake->is_resumed = openssl.is_resumed ? openssl.is_resumed(side) : -1;
    return 1;
}

const curlew_certificates *curlew_presented_certificates(void *easy) {
    SSL *side = openssl.chain && openssl.count && openssl.value && openssl.bytes ? secure_side(easy) : NULL;
    return side == NULL ? NULL : (const curlew_certificates *)openssl.chain(side);
}

curlew_certificates *curlew_retain_certificates(const curlew_certificates *certificates) {
    if (certificates == NULL) return NULL;
    return (curlew_certificates *)openssl.retain((STACK_OF(X509) *)certificates);
}

void curlew_release_certificates(curlew_certificates *certificates) {
    if (certificates != NULL)
        openssl.free_all((OPENSSL_STACK *)certificates, (OPENSSL_sk_freefunc)openssl.free_certificate);
}

int curlew_certificate_count(const curlew_certificates *certificates) {
    int count = certificates == NULL ? 0 : openssl.count((const OPENSSL_STACK *)certificates);
    return count < 0 ? 0 : count;
}

int curlew_certificate_bytes(const curlew_certificates *certificates, int place, uint8_t *bytes) {
    X509 *certificate = openssl.value((const OPENSSL_STACK *)certificates, place);
    int length = certificate == NULL ? 0 : openssl.bytes(certificate, bytes == NULL ? NULL : &bytes);
    return length < 0 ? 0 : length;
}

int curlew_certificate_key(const curlew_certificates *certificates, int place, uint8_t *bytes) {
    X509 *certificate = openssl.value((const OPENSSL_STACK *)certificates, place);
    X509_PUBKEY *key = certificate == NULL ? NULL : openssl.key(certificate);
    int length = key == NULL ? 0 : openssl.key_bytes(key, bytes == NULL ? NULL : &bytes);
    return length < 0 ? 0 : length;
}

#endif
