// SPDX-License-Identifier: MIT

#define _GNU_SOURCE

#include "CStack.h"

#include <pthread.h>
#include <stddef.h>

#if defined(__linux__)
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#if defined(__APPLE__)

static uintptr_t ask(void) {
    pthread_t thread = pthread_self();
    uintptr_t top = (uintptr_t)pthread_get_stackaddr_np(thread);
    size_t size = pthread_get_stacksize_np(thread);
    return size < top ? top - size : 0;
}

#elif defined(__linux__)

static uintptr_t ask(void) {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
    void *base = NULL;
    size_t size = 0;
    int answer = pthread_attr_getstack(&attributes, &base, &size);
    pthread_attr_destroy(&attributes);
    if (answer != 0) return 0;
    uintptr_t end = (uintptr_t)base;
#if !defined(__GLIBC__)
    // For the first thread, musl reports only the part of the stack that is mapped so far. The kernel maps more on
    // demand, up to the limit.
    struct rlimit limit;
    if (syscall(SYS_gettid) == getpid() && getrlimit(RLIMIT_STACK, &limit) == 0) {
        size_t most = limit.rlim_cur == RLIM_INFINITY ? (size_t)8 << 20 : (size_t)limit.rlim_cur;
        uintptr_t top = end + size;
        if (most > size && most < top) end = top - most;
    }
#endif
    return end;
}

#else

static uintptr_t ask(void) { return 0; }

#endif

uintptr_t curlew_stack_end(void) {
    static _Thread_local uintptr_t end;
    static _Thread_local int is_known;
    if (!is_known) {
        end = ask();
        is_known = 1;
    }
    return end;
}

const void **curlew_thread_dictionaries(void) {
    static _Thread_local const void *innermost;
    return &innermost;
}
