// SPDX-License-Identifier: MIT
//
// The C half of the module os: the unfair lock.

#ifndef CURLEW_STUB_OS_H
#define CURLEW_STUB_OS_H

#include <stdint.h>

#define NOT_FROM_ASYNC __attribute__((__swift_attr__("@_unavailableFromAsync(message: \"use a lock that is scoped\")")))

typedef struct os_unfair_lock_s {
    uint32_t _os_unfair_lock_opaque;
} os_unfair_lock, *os_unfair_lock_t;

void os_unfair_lock_lock(os_unfair_lock_t _Nonnull lock) NOT_FROM_ASYNC;
void os_unfair_lock_unlock(os_unfair_lock_t _Nonnull lock) NOT_FROM_ASYNC;
_Bool os_unfair_lock_trylock(os_unfair_lock_t _Nonnull lock) NOT_FROM_ASYNC;

#endif
