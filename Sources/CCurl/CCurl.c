// SPDX-License-Identifier: MIT
//
// What needs GNU extensions is compiled here and not in the header: a header that switches them on would declare some
// system types otherwise than Swift's own module of the C library does, and then the two cannot be used together.

#define _GNU_SOURCE 1
#include "CCurl.h"

#if defined(__linux__)

void curlew_name_thread(const char *name) {
    pthread_setname_np(pthread_self(), name);
}

#endif
