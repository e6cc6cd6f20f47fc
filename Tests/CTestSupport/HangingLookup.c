// SPDX-License-Identifier: MIT

#define _GNU_SOURCE 1
#include "HangingLookup.h"

#if defined(__linux__)

#include <dlfcn.h>
#include <netdb.h>
#include <pthread.h>
#include <string.h>

#define NAMES 4096

struct name {
    char text[64];
    int count;
    int is_released;
};

static struct name names[NAMES];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static int ends(const char *text, const char *suffix) {
    size_t length = text ? strlen(text) : 0;
    size_t end = strlen(suffix);
    return length > end && strcmp(text + length - end, suffix) == 0;
}

// The entry for a name, a new one if there is none yet; NULL when the table is full. Under the mutex.
static struct name *entry(const char *text) {
    for (int index = 0; index < NAMES; index++) {
        if (names[index].text[0] == 0) strncpy(names[index].text, text, sizeof names[index].text - 1);
        if (strcmp(names[index].text, text) == 0) return &names[index];
    }
    return NULL;
}

static void unlock(void *locked) {
    pthread_mutex_unlock(locked);
}

// libcurl 8.16 cancels threads that look up names, and then waits for their end.
static void wait_for_release(const char *node, int counts) {
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(unlock, &mutex);
    struct name *name = entry(node);
    if (name && counts) name->count++;
    while (name && !name->is_released) pthread_cond_wait(&changed, &mutex);
    pthread_cleanup_pop(1);
}

static int note(const char *node) {
    pthread_mutex_lock(&mutex);
    struct name *name = entry(node);
    int count = name ? ++name->count : 0;
    pthread_mutex_unlock(&mutex);
    return count;
}

// Newer versions of libcurl ask for each family by itself. Only one of the two questions counts, so that a name counts
// as looked up once.
static int counts(const struct addrinfo *hints) {
    return hints == NULL || hints->ai_family != AF_INET6;
}

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **result) {
    int (*next)(const char *, const char *, const struct addrinfo *, struct addrinfo **) =
        dlsym(RTLD_NEXT, "getaddrinfo");
    if (!next) return EAI_FAIL;
    if (ends(node, ".hangs.test")) {
        wait_for_release(node, counts(hints));
        return EAI_AGAIN;
    }
    if (ends(node, ".here.test")) {
        if (counts(hints)) note(node);
        return next("127.0.0.1", service, hints, result);
    }
    if (ends(node, ".once.test")) {
        if (!counts(hints)) return EAI_NONAME;
        if (note(node) == 1) return next("127.0.0.1", service, hints, result);
        wait_for_release(node, 0);
        return EAI_AGAIN;
    }
    if (ends(node, ".bare-zone.test")) {
        if (counts(hints)) note(node);
        return next("fe80::1%lo", service, hints, result);
    }
    if (ends(node, ".zone.test")) {
        if (!counts(hints)) return next("fe80::1%lo", service, hints, result);
        note(node);
        int code = next("fe80::1%lo", service, hints, result);
        return next("127.0.0.1", service, hints, code == 0 ? &(*result)->ai_next : result);
    }
    if (ends(node, ".turns.test")) {
        if (!counts(hints)) return EAI_NONAME;
        return next(note(node) % 2 == 1 ? "127.0.0.2" : "127.0.0.1", service, hints, result);
    }
    if (ends(node, ".dual.test")) {
        if (!counts(hints)) return next("::1", service, hints, result);
        note(node);
        // Whoever wants IPv4 alone gets that. The C library frees a list one by one, wherever its parts come from.
        int code = next("::1", service, hints, result);
        return next("127.0.0.1", service, hints, code == 0 ? &(*result)->ai_next : result);
    }
    return next(node, service, hints, result);
}

int hanging_lookup_count(const char *name) {
    pthread_mutex_lock(&mutex);
    struct name *found = entry(name);
    int count = found ? found->count : 0;
    pthread_mutex_unlock(&mutex);
    return count;
}

void hanging_lookup_release(const char *name) {
    pthread_mutex_lock(&mutex);
    struct name *found = entry(name);
    if (found) found->is_released = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

#endif
