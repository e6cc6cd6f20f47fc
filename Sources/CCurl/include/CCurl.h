// SPDX-License-Identifier: MIT
//
// libcurl's option, info and multi calls are variadic, and Swift cannot call variadic C functions. One inline function
// per kind of argument closes the gap; everything else of libcurl is imported as it is.

#ifndef CURLEW_CCURL_H
#define CURLEW_CCURL_H

#if defined(__linux__)

#define CURL_DISABLE_TYPECHECK 1
#define CURL_DISABLE_DEPRECATION 1
#include <curl/curl.h>

#if LIBCURL_VERSION_NUM < 0x075800
#error "Curlew needs the headers of libcurl 7.88.0 or newer (Debian 12, Ubuntu 24.04). Update libcurl4-openssl-dev."
#endif

#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

typedef size_t (*curlew_data_callback)(char *bytes, size_t size, size_t count, void *context);
typedef int (*curlew_seek_callback)(void *context, curl_off_t offset, int origin);
typedef int (*curlew_before_request_callback)(
    void *context, char *remote, char *local, int remote_port, int local_port);
typedef curl_socket_t (*curlew_open_socket_callback)(
    void *context, curlsocktype purpose, struct curl_sockaddr *address);

typedef int (*curlew_close_socket_callback)(void *context, curl_socket_t socket);

// Macros with casts, which Swift does not import.
static const long curlew_auth_basic = (long)CURLAUTH_BASIC;
static const long curlew_auth_digest = (long)CURLAUTH_DIGEST;
static const long curlew_auth_negotiate = (long)CURLAUTH_NEGOTIATE;

static inline CURLcode curlew_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode curlew_set_offset(CURL *easy, CURLoption option, int64_t value) {
    return curl_easy_setopt(easy, option, (curl_off_t)value);
}

static inline CURLcode curlew_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode curlew_set_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode curlew_set_data_callback(CURL *easy, CURLoption option, curlew_data_callback value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode curlew_set_seek_callback(CURL *easy, curlew_seek_callback value) {
    return curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, value);
}

static inline CURLcode curlew_set_before_request_callback(CURL *easy, curlew_before_request_callback value) {
    return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, value);
}

typedef int (*curlew_lookup_callback)(void *state, void *reserved, void *context);

/// Has `value` called before libcurl looks up a name; a result other than 0 ends the transfer instead.
static inline CURLcode curlew_set_lookup_callback(CURL *easy, curlew_lookup_callback value) {
    return curl_easy_setopt(easy, CURLOPT_RESOLVER_START_FUNCTION, value);
}

static inline CURLcode curlew_set_open_socket_callback(CURL *easy, curlew_open_socket_callback value) {
    return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, value);
}

static inline CURLcode curlew_set_close_socket_callback(CURL *easy, curlew_close_socket_callback value) {
    return curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, value);
}

typedef CURLcode (*curlew_secure_context_callback)(CURL *easy, void *secure_context, void *context);

/// Has `value` called with the settings of OpenSSL (an SSL_CTX) for each connection that this handle makes secure, and
/// with `context`.
static inline CURLcode curlew_set_secure_context_callback(
    CURL *easy, curlew_secure_context_callback value, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, value);
    return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, context) : code;
}

typedef int (*curlew_trailer_callback)(struct curl_slist **list, void *context);

/// Has `value` called for the fields behind a body that is sent in chunks; NULL for none.
static inline CURLcode curlew_set_trailer_callback(CURL *easy, curlew_trailer_callback value, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_TRAILERFUNCTION, value);
    return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_TRAILERDATA, context) : code;
}

/// A store of TLS sessions for several handles of one thread; NULL without memory.
static inline CURLSH *curlew_session_store(void) {
    CURLSH *store = curl_share_init();
    if (store == NULL || curl_share_setopt(store, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION) == CURLSHE_OK)
        return store;
    curl_share_cleanup(store);
    return NULL;
}

/// Copies the bytes.
static inline CURLcode curlew_set_blob(CURL *easy, CURLoption option, const void *bytes, size_t length) {
    struct curl_blob blob = {(void *)bytes, length, CURL_BLOB_COPY};
    return curl_easy_setopt(easy, option, &blob);
}

static inline long curlew_info_long(CURL *easy, CURLINFO info) {
    long value = 0;
    return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

static inline int64_t curlew_info_offset(CURL *easy, CURLINFO info) {
    curl_off_t value = 0;
    return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

/// The socket of the connection that the handle has used last; CURL_SOCKET_BAD without one.
static inline curl_socket_t curlew_info_socket(CURL *easy) {
    curl_socket_t value = CURL_SOCKET_BAD;
    return curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &value) == CURLE_OK ? value : CURL_SOCKET_BAD;
}

static inline const char *curlew_info_string(CURL *easy, CURLINFO info) {
    char *value = NULL;
    return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : NULL;
}

static inline void *curlew_info_pointer(CURL *easy, CURLINFO info) {
    char *value = NULL;
    return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : NULL;
}

/// A certificate of the server in PEM form, its own at place 0, if CURLOPT_CERTINFO was set and this transfer made the
/// connection. NULL where there is none.
static inline const char *curlew_server_certificate(CURL *easy, int place) {
    struct curl_certinfo *chain = NULL;
    if (curl_easy_getinfo(easy, CURLINFO_CERTINFO, &chain) != CURLE_OK || chain == NULL) return NULL;
    if (place < 0 || place >= chain->num_of_certs) return NULL;
    for (struct curl_slist *line = chain->certinfo[place]; line != NULL; line = line->next) {
        if (strncmp(line->data, "Cert:", 5) == 0) return line->data + 5;
    }
    return NULL;
}

static inline CURLMcode curlew_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

/// The finished transfer, or NULL when there is no further one. `code` is set with it.
static inline CURL *curlew_multi_next_done(CURLM *multi, CURLcode *code) {
    int left = 0;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left)) != NULL) {
        if (message->msg == CURLMSG_DONE) {
            *code = message->data.result;
            return message->easy_handle;
        }
    }
    return NULL;
}

static inline CURLMcode curlew_multi_set_socket_callback(
    CURLM *multi, curl_socket_callback value, void *context) {
    CURLMcode code = curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, context);
    return code == CURLM_OK ? curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, value) : code;
}

static inline CURLMcode curlew_multi_set_timer_callback(
    CURLM *multi, curl_multi_timer_callback value, void *context) {
    CURLMcode code = curl_multi_setopt(multi, CURLMOPT_TIMERDATA, context);
    return code == CURLM_OK ? curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, value) : code;
}

static inline curl_version_info_data *curlew_version(void) {
    return curl_version_info(CURLVERSION_NOW);
}

/// A descriptor that becomes readable when eight bytes are written to it; not inherited, never blocks.
static inline int curlew_event_descriptor(void) {
    return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

/// The name that debuggers and `top -H` show for the calling thread; at most 15 characters.
void curlew_name_thread(const char *name);

/// From now on forks are counted, in the children.
void curlew_watch_forks(void);

/// How many forks lie between this process and the one that first called `curlew_watch_forks`.
uint32_t curlew_fork_count(void);

#include "ContentDecoder.h"
#include "ServerCheck.h"

#endif
#endif
