// SPDX-License-Identifier: MIT
//
// The option, info and multi functions of libcurl are variadic, and Swift cannot call variadic C functions. So this
// header defines one inline function for each kind of argument. Swift imports all other functions of libcurl directly.

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

// libcurl defines these values as macros with casts, which Swift does not import.
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

/// Makes libcurl call `value` before it looks up a name. A result other than 0 ends the transfer instead.
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

/// Makes libcurl call `value` with OpenSSL's settings (an SSL_CTX) and `context` for each TLS connection that this
/// handle opens.
static inline CURLcode curlew_set_secure_context_callback(
    CURL *easy, curlew_secure_context_callback value, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, value);
    return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, context) : code;
}

typedef int (*curlew_trailer_callback)(struct curl_slist **list, void *context);

/// Makes libcurl call `value` for the trailers of a body that is sent in chunks. NULL removes the callback.
static inline CURLcode curlew_set_trailer_callback(CURL *easy, curlew_trailer_callback value, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_TRAILERFUNCTION, value);
    return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_TRAILERDATA, context) : code;
}

/// Creates a store of TLS sessions that several handles of one thread share. Returns NULL if memory is exhausted or
/// libcurl refuses to share sessions.
static inline CURLSH *curlew_session_store(void) {
    CURLSH *store = curl_share_init();
    if (store == NULL || curl_share_setopt(store, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION) == CURLSHE_OK)
        return store;
    curl_share_cleanup(store);
    return NULL;
}

/// Sets an option to `length` bytes, which libcurl copies.
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

/// Returns the socket of the connection that the handle used last, or CURL_SOCKET_BAD if there is none.
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

/// Returns a certificate that the server presented, in PEM format; the server's own certificate is at place 0. Returns
/// NULL if there is none at `place`, if CURLOPT_CERTINFO was not set, or if this transfer did not open the connection.
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

/// Returns the next finished transfer and sets `code` to its result. Returns NULL if no further transfer has finished.
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

/// Creates a descriptor that becomes readable when eight bytes are written to it. Other programs that the process
/// starts do not inherit it, and reading and writing never block. Returns -1 if the system has no descriptor left.
static inline int curlew_event_descriptor(void) {
    return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

/// Sets the name of the calling thread, which debuggers and `top -H` show; at most 15 characters.
void curlew_name_thread(const char *name);

/// Sets and returns the event loop of the calling thread; NULL if it is none.
void curlew_set_current_loop(void *loop);
void *curlew_current_loop(void);

/// Starts to count forks: each forked child increments its own count. Further calls have no effect.
void curlew_watch_forks(void);

/// Returns the number of forks between this process and the process that first called `curlew_watch_forks`.
uint32_t curlew_fork_count(void);

#include "ContentDecoder.h"
#include "ServerCheck.h"
#include "Sockets.h"

#endif
#endif
