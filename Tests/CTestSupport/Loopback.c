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

#else

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>

int loopback_accept(int listener) {
    int connection;
    do {
        connection = accept(listener, 0, 0);
    } while (connection < 0 && (errno == EINTR || errno == ECONNABORTED));
    // There is no accept4: a program that is started between the two calls inherits the connection, unless it is a
    // companion process.
    if (connection >= 0) fcntl(connection, F_SETFD, FD_CLOEXEC);
    return connection;
}

#endif
