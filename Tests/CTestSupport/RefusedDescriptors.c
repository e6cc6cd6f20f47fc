// SPDX-License-Identifier: MIT

#if defined(__linux__)

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/epoll.h>

#include "RefusedDescriptors.h"

static atomic_bool refuses;

void refuse_epoll_descriptors(bool value) {
    atomic_store(&refuses, value);
}

static bool is_event_loop(void) {
    char name[16] = "";
    return pthread_getname_np(pthread_self(), name, sizeof name) == 0 && strcmp(name, "curlew-loop") == 0;
}

int epoll_create1(int flags) {
    if (atomic_load(&refuses) && is_event_loop()) {
        errno = EMFILE;
        return -1;
    }
    int (*next)(int) = dlsym(RTLD_NEXT, "epoll_create1");
    if (next) return next(flags);
    errno = ENOSYS;
    return -1;
}

#endif
