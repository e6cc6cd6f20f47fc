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
typedef int (*curlew_lookup_callback)(void *state, void *reserved, void *context);
typedef curl_socket_t (*curlew_open_socket_callback)(
    void *context, curlsocktype purpose, struct curl_sockaddr *address);
typedef int (*curlew_close_socket_callback)(void *context, curl_socket_t socket);
typedef CURLcode (*curlew_secure_context_callback)(CURL *easy, void *secure_context, void *context);
typedef int (*curlew_trailer_callback)(struct curl_slist **list, void *context);

// libcurl defines these values as macros with casts, which Swift does not import.
static const long curlew_auth_basic = (long)CURLAUTH_BASIC;
static const long curlew_auth_digest = (long)CURLAUTH_DIGEST;
static const long curlew_auth_negotiate = (long)CURLAUTH_NEGOTIATE;

// One function for each type of value.
#define CURLEW_SETTER(name, type)                                                                 \
    static inline CURLcode curlew_set_##name(CURL *easy, CURLoption option, type value) {         \
        return curl_easy_setopt(easy, option, value);                                             \
    }
CURLEW_SETTER(long, long)
CURLEW_SETTER(offset, int64_t)
CURLEW_SETTER(pointer, void *)
CURLEW_SETTER(string, const char *)
CURLEW_SETTER(data_callback, curlew_data_callback)
CURLEW_SETTER(seek_callback, curlew_seek_callback)
CURLEW_SETTER(before_request_callback, curlew_before_request_callback)
CURLEW_SETTER(lookup_callback, curlew_lookup_callback)
CURLEW_SETTER(open_socket_callback, curlew_open_socket_callback)
CURLEW_SETTER(close_socket_callback, curlew_close_socket_callback)
CURLEW_SETTER(secure_context_callback, curlew_secure_context_callback)
CURLEW_SETTER(trailer_callback, curlew_trailer_callback)

#define CURLEW_MULTI_SETTER(name, type)                                                           \
    static inline CURLMcode curlew_multi_set_##name(CURLM *multi, CURLMoption option, type value) { \
        return curl_multi_setopt(multi, option, value);                                           \
    }
CURLEW_MULTI_SETTER(long, long)
CURLEW_MULTI_SETTER(pointer, void *)
CURLEW_MULTI_SETTER(socket_callback, curl_socket_callback)
CURLEW_MULTI_SETTER(timer_callback, curl_multi_timer_callback)

// Each function returns `none` if libcurl does not know the value.
#define CURLEW_INFO(name, type, result, none)                                                     \
    static inline result curlew_info_##name(CURL *easy, CURLINFO info) {                          \
        type value = none;                                                                        \
        return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : none;                  \
    }
CURLEW_INFO(long, long, long, 0)
CURLEW_INFO(offset, curl_off_t, int64_t, 0)
CURLEW_INFO(string, char *, const char *, NULL)
CURLEW_INFO(pointer, char *, void *, NULL)
CURLEW_INFO(socket, curl_socket_t, curl_socket_t, CURL_SOCKET_BAD)

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

static inline curl_version_info_data *curlew_version(void) {
    return curl_version_info(CURLVERSION_NOW);
}

/// Creates a descriptor that becomes readable when eight bytes are written to it. Other programs that the process
/// starts do not inherit it, and reading and writing never block. Returns -1 if the system has no descriptor left.
static inline int curlew_event_descriptor(void) {
    return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

/// Names the calling thread, for debuggers and `top -H`. Does nothing if the name has more than 15 bytes.
void curlew_name_thread(const char *name);

/// Sets or returns the event loop that the calling thread runs; NULL if it runs none.
void curlew_set_current_loop(void *loop);
void *curlew_current_loop(void);

/// Starts to count forks: each forked child increments its own count. Further calls have no effect.
void curlew_watch_forks(void);

/// Returns the number of forks between this process and the process that first called `curlew_watch_forks`.
uint32_t curlew_fork_count(void);

#include "ContentDecoder.h"
#include "ServerCheck.h"
#include "Sockets.h"

/// Does the same as `curlew_address_text` for an address of libcurl, whose length depends on the family.
static inline int curlew_curl_address(const struct curl_sockaddr *address, char *text, size_t size) {
    return curlew_address_text(&address->addr, text, size);
}

#endif
#endif
