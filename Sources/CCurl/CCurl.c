// SPDX-License-Identifier: MIT
//
// What needs GNU extensions is compiled here and not in the header: a header that switches them on would declare some
// system types otherwise than Swift's own module of the C library does, and then the two cannot be used together.

#define _GNU_SOURCE 1
#include "CCurl.h"

#if defined(__linux__)

#include <dlfcn.h>
#include <stdatomic.h>

static _Atomic uint32_t forks;

static void note_fork(void) {
    atomic_fetch_add_explicit(&forks, 1, memory_order_relaxed);
}

static void watch_forks(void) {
    pthread_atfork(NULL, NULL, note_fork);
}

void curlew_watch_forks(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
}

uint32_t curlew_fork_count(void) {
    return atomic_load_explicit(&forks, memory_order_relaxed);
}

typedef void (*set_key_log)(void *context, void (*write)(const void *connection, const char *line));

static CURLcode remove_key_log(CURL *easy, void *context, void *function) {
    (void)easy;
    ((set_key_log)function)(context, NULL);
    return CURLE_OK;
}

int curlew_forbid_key_log(CURL *easy) {
    // libcurl has set its own before it calls ours. It is looked up, because the package does not link OpenSSL.
    void *function = dlsym(RTLD_DEFAULT, "SSL_CTX_set_keylog_callback");
    if (function == NULL) return 0;
    return curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, remove_key_log) == CURLE_OK
        && curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, function) == CURLE_OK;
}

void curlew_name_thread(const char *name) {
    pthread_setname_np(pthread_self(), name);
}

#endif
