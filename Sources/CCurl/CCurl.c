// SPDX-License-Identifier: MIT
//
// Functions that need GNU extensions are defined here and not in the header. A header that enables the extensions would
// declare some system types differently from Swift's module of the C library, and the two could not be used together.

#define _GNU_SOURCE 1
#include "CCurl.h"

#if defined(__linux__)

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

static _Thread_local void *current_loop;

void curlew_set_current_loop(void *loop) {
    current_loop = loop;
}

void *curlew_current_loop(void) {
    return current_loop;
}

void curlew_name_thread(const char *name) {
    pthread_setname_np(pthread_self(), name);
}

#endif
