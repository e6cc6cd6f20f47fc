// SPDX-License-Identifier: MIT
//
// The system calls of the transport's own connections. Results below zero are negated error numbers.

#ifndef CURLEW_SOCKETS_H
#define CURLEW_SOCKETS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/// The kind of address that a socket connects to.
enum curlew_family { CURLEW_IPV4, CURLEW_IPV6, CURLEW_UNIX };

/// Opens a stream socket that never blocks and that other programs do not inherit. Returns its descriptor or an error.
/// An IP socket sends small writes immediately, and probes after `keep_alive` seconds of silence; 0 sends no probes.
int curlew_open_socket(enum curlew_family family, int keep_alive);

/// Binds the socket to a local IP address of 4 or 16 bytes. Returns 0 or an error.
int curlew_bind_address(int socket, const uint8_t *address, size_t count);

/// Binds the socket to a network interface or, where only privileged programs may do so, to an address of the interface
/// in `family`. Returns 0 or an error.
int curlew_bind_interface(int socket, const char *name, enum curlew_family family);

/// Begins to connect to an IP address of 4 or 16 bytes. Returns 0 if the connection is open, or an error, which is
/// `-EINPROGRESS` if the result is not known yet.
int curlew_connect_address(int socket, const uint8_t *address, size_t count, int port);

/// Connects to a Unix domain socket. Returns 0 or an error.
int curlew_connect_path(int socket, const char *path);

/// Returns the result of a connection attempt: 0 or an error.
int curlew_connect_result(int socket);

/// Writes an IP address, such as `192.0.2.7` or `2001:db8::7`, and returns its port. For other families, writes an
/// empty text and returns 0.
int curlew_address_text(const struct sockaddr *address, char *text, size_t size);

/// Does the same for the local end of a connection, and for the peer's end.
int curlew_local_address(int socket, char *text, size_t size);
int curlew_peer_address(int socket, char *text, size_t size);

/// The thread's memory for one small request, so that sending allocates none. The next call returns the same memory.
typedef struct {
    void *bytes;
    size_t count;
} curlew_room;
curlew_room curlew_request_room(void);

/// Sends bytes without a signal for a broken connection. Returns the number of sent bytes, or an error.
ptrdiff_t curlew_send(int socket, const void *bytes, size_t count);

/// Receives bytes. Returns their number, 0 if the peer has ended the connection, or an error.
ptrdiff_t curlew_receive(int socket, void *bytes, size_t count);

/// Returns whether nothing has arrived on the socket: no byte, no end and no error.
int curlew_is_silent(int socket);

/// Ends the connection in both directions. The descriptor stays valid.
void curlew_end_connection(int socket);

/// Adds (`operation` 0), changes (1) or removes (2) a socket of an epoll instance. Returns 0 or an error.
int curlew_poll_socket(int poll, int operation, int socket, uint32_t events, uint64_t tag);

#endif
