// SPDX-License-Identifier: MIT

#if defined(__linux__)

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <sys/epoll.h>

#include "RefusedDescriptors.h"

static atomic_bool refuses;

void refuse_epoll_descriptors(bool value) {
    atomic_store(&refuses, value);
}

int epoll_create1(int flags) {
    if (atomic_load(&refuses)) {
        errno = EMFILE;
        return -1;
    }
    int (*next)(int) = dlsym(RTLD_NEXT, "epoll_create1");
    if (next) return next(flags);
    errno = ENOSYS;
    return -1;
}

#endif
