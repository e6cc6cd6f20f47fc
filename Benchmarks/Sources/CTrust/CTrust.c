// SPDX-License-Identifier: MIT
//
// URLSession on Linux trusts the system's authorities and no others: it has no setting for them, and its libcurl reads
// no variable. This stands in front of libcurl's curl_easy_init for the whole program and names the file to each new
// handle. Everything else stays as URLSession sets it, the folder of authorities that is libcurl's default included.

#if defined(__linux__)
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>

#include "CTrust.h"

enum { option_ca_file = 10065 };

static void *(*real_init)(void);
static int (*set_option)(void *, int, ...);
static const char *roots;

static void find(void) {
    // Finding it twice at the same time finds the same.
    if (!real_init) real_init = (void *(*)(void))dlsym(RTLD_NEXT, "curl_easy_init");
}

void ctrust_begin(void) {
    find();
    set_option = (int (*)(void *, int, ...))dlsym(RTLD_NEXT, "curl_easy_setopt");
    roots = getenv("SSL_CERT_FILE");
}

__attribute__((visibility("default"))) void *curl_easy_init(void) {
    find();
    void *handle = real_init ? real_init() : NULL;
    if (handle && roots && set_option) set_option(handle, option_ca_file, roots);
    return handle;
}
#else
#include "CTrust.h"

void ctrust_begin(void) {}
#endif
