// SPDX-License-Identifier: MIT

#define _GNU_SOURCE 1
#include "Loopback.h"

#if defined(__linux__)

#include <errno.h>
#include <sys/socket.h>

int loopback_accept(int listener) {
    int connection;
    do {
        connection = accept4(listener, 0, 0, SOCK_CLOEXEC);
    } while (connection < 0 && (errno == EINTR || errno == ECONNABORTED));
    return connection;
}

#endif
