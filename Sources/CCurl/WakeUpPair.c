// SPDX-License-Identifier: MIT
//
// libcurl before 8.8 opens a pair of sockets for each multi handle that every started program inherits, and offers no
// way to ask for it. The pair is recognised by what it does: a wake-up makes one end readable, and what is written to
// that end arrives at the other. A pair for the time of a name lookup stays as it is.

#define _GNU_SOURCE 1
#include "CCurl.h"

#if defined(__linux__)

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { reach = 64 };

static int is_open_unix_socket(int descriptor) {
    int flags = fcntl(descriptor, F_GETFD);
    if (flags < 0 || (flags & FD_CLOEXEC)) return 0;
    int domain = 0;
    socklen_t length = sizeof domain;
    return getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &length) == 0 && domain == AF_UNIX;
}

static int waiting_bytes(int descriptor) {
    int count = -1;
    return ioctl(descriptor, FIONREAD, &count) == 0 ? count : -1;
}

/// The only one of the candidates at which exactly one byte has arrived.
static int arrival(const int *candidates) {
    for (int index = 0; index < reach; index++) {
        if (candidates[index] >= 0 && waiting_bytes(candidates[index]) == 1) return candidates[index];
    }
    return -1;
}

CURLM *curlew_multi_open(int wake) {
    // The system gives the lowest free numbers; other threads may take some of them meanwhile.
    int first = fcntl(wake, F_DUPFD_CLOEXEC, 0);
    if (first >= 0) close(first);
    CURLM *multi = curl_multi_init();
    if (multi == NULL || first < 0) return multi;

    int candidates[reach];
    for (int index = 0; index < reach; index++) {
        int descriptor = first + index;
        candidates[index] =
            is_open_unix_socket(descriptor) && waiting_bytes(descriptor) == 0 ? descriptor : -1;
    }
    if (curl_multi_wakeup(multi) != CURLM_OK) return multi;
    int reader = arrival(candidates);
    curl_multi_poll(multi, NULL, 0, 0, NULL);
    if (reader < 0 || waiting_bytes(reader) != 0) return multi;
    fcntl(reader, F_SETFD, FD_CLOEXEC);
    char byte = 1;
    if (send(reader, &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT) != 1) return multi;
    int writer = arrival(candidates);
    if (writer < 0) return multi;
    if (recv(writer, &byte, 1, MSG_DONTWAIT) == 1) fcntl(writer, F_SETFD, FD_CLOEXEC);
    return multi;
}

#endif
