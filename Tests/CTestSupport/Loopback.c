// SPDX-License-Identifier: MIT

#define _GNU_SOURCE 1
#include "Loopback.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

// Returns 0 when there is something to accept, and -1 when `stop` has ended.
static int wait_for_connection(int listener, int stop) {
    struct pollfd entries[2] = {{.fd = listener, .events = POLLIN}, {.fd = stop, .events = POLLIN}};
    while (1) {
        int count = poll(entries, 2, -1);
        if (count < 0 && errno != EINTR) return -1;
        if (count > 0) return entries[1].revents ? -1 : 0;
    }
}

#if defined(__linux__)

static int accept_one(int listener) {
    return accept4(listener, 0, 0, SOCK_CLOEXEC);
}

int loopback_pipe(int ends[2]) {
    return pipe2(ends, O_CLOEXEC);
}

// The end of the peer's stream, whatever it has sent that nobody has read.
#define HANG_UP 0x2000

int loopback_wait_for_end(int connection, int milliseconds) {
    struct pollfd entry = {.fd = connection, .events = HANG_UP};
    return poll(&entry, 1, milliseconds);
}

#else

// There is no accept4: a program that is started between the two calls inherits the connection, unless it is a
// companion process. And connections wait or do not as their listener does.
static int accept_one(int listener) {
    int connection = accept(listener, 0, 0);
    if (connection < 0) return connection;
    fcntl(connection, F_SETFD, FD_CLOEXEC);
    fcntl(connection, F_SETFL, fcntl(connection, F_GETFL) & ~O_NONBLOCK);
    return connection;
}

int loopback_pipe(int ends[2]) {
    if (pipe(ends) != 0) return -1;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    return 0;
}

#if defined(__APPLE__)

#include <sys/event.h>
#include <time.h>

// `poll` has no such event: it sees the end only when everything before it has been read. A queue tells it at once, and
// is asked not to tell of bytes. Should it all the same, the time begins anew.
int loopback_wait_for_end(int connection, int milliseconds) {
    int queue = kqueue();
    if (queue < 0) return -1;
    struct kevent event;
    EV_SET(&event, connection, EVFILT_READ, EV_ADD | EV_CLEAR, NOTE_LOWAT, 1 << 30, 0);
    struct timespec limit = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    int count = kevent(queue, &event, 1, 0, 0, 0);
    while (count == 0) {
        count = kevent(queue, 0, 0, &event, 1, milliseconds < 0 ? 0 : &limit);
        if (count == 0) break;
        if (count < 0 ? errno == EINTR : !(event.flags & (EV_EOF | EV_ERROR))) count = 0;
    }
    close(queue);
    return count;
}

#else

int loopback_wait_for_end(int connection, int milliseconds) {
    struct pollfd entry = {.fd = connection, .events = POLLHUP};
    return poll(&entry, 1, milliseconds);
}

#endif

#endif

int loopback_accept(int listener, int stop) {
    // A connection that its client has already given up must not leave us waiting for the next one.
    fcntl(listener, F_SETFL, fcntl(listener, F_GETFL) | O_NONBLOCK);
    while (wait_for_connection(listener, stop) == 0) {
        int connection = accept_one(listener);
        if (connection >= 0) return connection;
        if (errno != EINTR && errno != ECONNABORTED && errno != EAGAIN && errno != EWOULDBLOCK) return -1;
    }
    return -1;
}
