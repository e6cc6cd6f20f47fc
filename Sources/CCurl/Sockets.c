// SPDX-License-Identifier: MIT

#define _GNU_SOURCE 1

#if defined(__linux__)

#include "Sockets.h"
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>

static void set(int socket, int level, int option, int value) {
    setsockopt(socket, level, option, &value, sizeof value);
}

int curlew_open_socket(enum curlew_family family, int keep_alive) {
    int domain = family == CURLEW_IPV4 ? AF_INET : family == CURLEW_IPV6 ? AF_INET6 : AF_UNIX;
    int descriptor = socket(domain, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) return -errno;
    if (family == CURLEW_UNIX) return descriptor;
    set(descriptor, IPPROTO_TCP, TCP_NODELAY, 1);
    if (keep_alive > 0) {
        set(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1);
        set(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, keep_alive);
        set(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, keep_alive);
    }
    return descriptor;
}

/// Writes a socket address for an IP address and a port. Returns its length.
static socklen_t write_address(
    struct sockaddr_storage *storage, const uint8_t *address, size_t count, int port) {
    memset(storage, 0, sizeof *storage);
    if (count == 4) {
        struct sockaddr_in *in = (struct sockaddr_in *)storage;
        in->sin_family = AF_INET;
        in->sin_port = htons((uint16_t)port);
        memcpy(&in->sin_addr, address, 4);
        return sizeof *in;
    }
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)storage;
    in6->sin6_family = AF_INET6;
    in6->sin6_port = htons((uint16_t)port);
    memcpy(&in6->sin6_addr, address, 16);
    return sizeof *in6;
}

int curlew_bind_address(int socket, const uint8_t *address, size_t count) {
    struct sockaddr_storage storage;
    socklen_t length = write_address(&storage, address, count, 0);
    return bind(socket, (struct sockaddr *)&storage, length) == 0 ? 0 : -errno;
}

int curlew_bind_interface(int socket, const char *name, enum curlew_family family) {
    if (setsockopt(socket, SOL_SOCKET, SO_BINDTODEVICE, name, (socklen_t)strlen(name)) == 0) return 0;
    if (errno != EPERM) return -errno;
    struct ifaddrs *list;
    if (getifaddrs(&list) != 0) return -errno;
    int domain = family == CURLEW_IPV4 ? AF_INET : AF_INET6;
    int result = -EADDRNOTAVAIL;
    for (struct ifaddrs *each = list; each != NULL && result != 0; each = each->ifa_next) {
        if (each->ifa_addr == NULL || each->ifa_addr->sa_family != domain || strcmp(each->ifa_name, name) != 0)
            continue;
        socklen_t length = domain == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
        result = bind(socket, each->ifa_addr, length) == 0 ? 0 : -errno;
    }
    freeifaddrs(list);
    return result;
}

int curlew_connect_address(int socket, const uint8_t *address, size_t count, int port) {
    struct sockaddr_storage storage;
    socklen_t length = write_address(&storage, address, count, port);
    return connect(socket, (struct sockaddr *)&storage, length) == 0 ? 0 : -errno;
}

int curlew_connect_path(int socket, const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) return -ENAMETOOLONG;
    strcpy(address.sun_path, path);
    return connect(socket, (struct sockaddr *)&address, sizeof address) == 0 ? 0 : -errno;
}

int curlew_connect_result(int socket) {
    int error = 0;
    socklen_t length = sizeof error;
    return getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? -error : -errno;
}

int curlew_address_text(const struct sockaddr *address, char *text, size_t size) {
    const struct sockaddr_in *in = (const struct sockaddr_in *)address;
    int is_long = address->sa_family == AF_INET6;
    text[0] = 0;
    if (address->sa_family != AF_INET && !is_long) return 0;
    const void *bytes = is_long ? (const void *)&((const struct sockaddr_in6 *)address)->sin6_addr : &in->sin_addr;
    inet_ntop(address->sa_family, bytes, text, (socklen_t)size);
    // The port has the same position in both structures.
    return ntohs(in->sin_port);
}

static int end_of_connection(int socket, int is_peer, char *text, size_t size) {
    struct sockaddr_storage storage = {.ss_family = AF_UNSPEC};
    struct sockaddr *address = (struct sockaddr *)&storage;
    socklen_t length = sizeof storage;
    int code = is_peer ? getpeername(socket, address, &length) : getsockname(socket, address, &length);
    if (code != 0) storage.ss_family = AF_UNSPEC;
    return curlew_address_text(address, text, size);
}

int curlew_local_address(int socket, char *text, size_t size) {
    return end_of_connection(socket, 0, text, size);
}

int curlew_peer_address(int socket, char *text, size_t size) {
    return end_of_connection(socket, 1, text, size);
}

curlew_room curlew_request_room(void) {
    static _Thread_local char bytes[8 << 10];
    return (curlew_room){bytes, sizeof bytes};
}

ptrdiff_t curlew_send(int socket, const void *bytes, size_t count) {
    ptrdiff_t sent = send(socket, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT);
    return sent >= 0 ? sent : -errno;
}

ptrdiff_t curlew_receive(int socket, void *bytes, size_t count) {
    ptrdiff_t received = recv(socket, bytes, count, MSG_DONTWAIT);
    return received >= 0 ? received : -errno;
}

int curlew_is_silent(int socket) {
    struct pollfd entry = {.fd = socket, .events = POLLIN};
    return poll(&entry, 1, 0) == 0;
}

void curlew_end_connection(int socket) {
    shutdown(socket, SHUT_RDWR);
}

int curlew_poll_socket(int poll, int operation, int socket, uint32_t events, uint64_t tag) {
    static const int operations[] = {EPOLL_CTL_ADD, EPOLL_CTL_MOD, EPOLL_CTL_DEL};
    struct epoll_event event = {.events = events, .data = {.u64 = tag}};
    return epoll_ctl(poll, operations[operation], socket, &event) == 0 ? 0 : -errno;
}

#endif
