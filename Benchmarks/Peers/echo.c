// SPDX-License-Identifier: MIT

// A WebSocket server that sends every frame back: one thread, epoll, loopback only. Prints its port, and serves until
// its input ends. It is as cheap as it can be, so that a benchmark of clients measures the clients.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LIMIT = 1 << 20 };

struct peer {
    int socket, is_open, waits;
    size_t used, size, queued, queue_size, sent;
    uint8_t *input, *output;
};

static int epoll_descriptor;

static void end(struct peer *peer) {
    close(peer->socket);
    free(peer->input);
    free(peer->output);
    free(peer);
}

static uint8_t *grown(uint8_t *bytes, size_t *size, size_t needed) {
    if (*size >= needed) return bytes;
    while (*size < needed) *size = *size ? *size * 2 : 4096;
    bytes = realloc(bytes, *size);
    if (!bytes) exit(1);
    return bytes;
}

static void add(struct peer *peer, const void *bytes, size_t count) {
    peer->output = grown(peer->output, &peer->queue_size, peer->queued + count);
    memcpy(peer->output + peer->queued, bytes, count);
    peer->queued += count;
}

/// Returns 0 if the connection is lost.
static int flush(struct peer *peer) {
    while (peer->sent < peer->queued) {
        ssize_t count = send(peer->socket, peer->output + peer->sent, peer->queued - peer->sent, MSG_NOSIGNAL);
        if (count < 0 && errno == EAGAIN) break;
        if (count <= 0) return 0;
        peer->sent += (size_t)count;
    }
    int waits = peer->sent < peer->queued;
    if (!waits) peer->sent = peer->queued = 0;
    if (waits != peer->waits) {
        struct epoll_event event = {.events = waits ? EPOLLIN | EPOLLOUT : EPOLLIN, .data.ptr = peer};
        epoll_ctl(epoll_descriptor, EPOLL_CTL_MOD, peer->socket, &event);
        peer->waits = waits;
    }
    return 1;
}

static int shake_hands(struct peer *peer) {
    char *end_of_head = memmem(peer->input, peer->used, "\r\n\r\n", 4);
    if (!end_of_head) return 1;
    *end_of_head = 0;
    char *key = strcasestr((char *)peer->input, "sec-websocket-key:");
    if (!key) return 0;
    key += strlen("sec-websocket-key:");
    while (*key == ' ') key++;
    char text[128], accept[64], head[256];
    snprintf(text, sizeof text, "%.24s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", key);
    unsigned char hash[SHA_DIGEST_LENGTH];
    SHA1((unsigned char *)text, strlen(text), hash);
    EVP_EncodeBlock((unsigned char *)accept, hash, sizeof hash);
    int count = snprintf(head, sizeof head,
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Accept: %s\r\n\r\n", accept);
    add(peer, head, (size_t)count);
    size_t taken = (size_t)(end_of_head + 4 - (char *)peer->input);
    peer->used -= taken;
    memmove(peer->input, peer->input + taken, peer->used);
    peer->is_open = 1;
    return 1;
}

/// Echoes the complete frames of the input. Returns 0 to end the connection.
static int echo(struct peer *peer) {
    size_t position = 0;
    while (peer->used - position >= 6) {
        uint8_t *frame = peer->input + position;
        size_t length = frame[1] & 0x7F, header = 2;
        if (length == 126) {
            length = (size_t)frame[2] << 8 | frame[3];
            header = 4;
        } else if (length == 127) {
            if (peer->used - position < 14) break;
            length = 0;
            for (int index = 2; index < 10; index++) length = length << 8 | frame[index];
            header = 10;
        }
        if (length > LIMIT || !(frame[1] & 0x80)) return 0;
        if (peer->used - position < header + 4 + length) break;
        uint8_t mask[8], *payload = frame + header + 4;
        memcpy(mask, frame + header, 4);
        memcpy(mask + 4, frame + header, 4);
        uint64_t word;
        memcpy(&word, mask, 8);
        size_t index = 0;
        for (; index + 8 <= length; index += 8) {
            uint64_t part;
            memcpy(&part, payload + index, 8);
            part ^= word;
            memcpy(payload + index, &part, 8);
        }
        for (; index < length; index++) payload[index] ^= mask[index & 3];
        int code = frame[0] & 0x0F;
        uint8_t head[10];
        memcpy(head, frame, header);
        head[1] &= 0x7F;
        if (code == 9) head[0] = 0x8A;
        if (code != 10) {
            add(peer, head, header);
            add(peer, payload, length);
        }
        position += header + 4 + length;
        if (code == 8) {
            flush(peer);
            return 0;
        }
    }
    peer->used -= position;
    if (position) memmove(peer->input, peer->input + position, peer->used);
    return 1;
}

static int receive(struct peer *peer) {
    if (peer->size < peer->used + 65536) peer->input = grown(peer->input, &peer->size, peer->used + 65536);
    ssize_t count = recv(peer->socket, peer->input + peer->used, peer->size - peer->used - 1, 0);
    if (count < 0 && errno == EAGAIN) return 1;
    if (count <= 0) return 0;
    peer->used += (size_t)count;
    if (!peer->is_open && !shake_hands(peer)) return 0;
    if (peer->is_open && !echo(peer)) return 0;
    return flush(peer);
}

int main(void) {
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 4096)) return 1;
    getsockname(listener, (struct sockaddr *)&address, &size);
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    epoll_descriptor = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL}, events[256];
    epoll_ctl(epoll_descriptor, EPOLL_CTL_ADD, listener, &event);
    static struct peer input;
    event.data.ptr = &input;
    epoll_ctl(epoll_descriptor, EPOLL_CTL_ADD, STDIN_FILENO, &event);
    for (;;) {
        int count = epoll_wait(epoll_descriptor, events, 256, -1);
        for (int index = 0; index < count; index++) {
            struct peer *peer = events[index].data.ptr;
            if (peer == &input) {
                char byte;
                if (read(STDIN_FILENO, &byte, 1) <= 0) return 0;
            } else if (!peer) {
                int socket = accept4(listener, NULL, NULL, SOCK_NONBLOCK), one = 1;
                if (socket < 0) continue;
                setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
                peer = calloc(1, sizeof *peer);
                peer->socket = socket;
                event.events = EPOLLIN;
                event.data.ptr = peer;
                epoll_ctl(epoll_descriptor, EPOLL_CTL_ADD, socket, &event);
            } else if (events[index].events & EPOLLOUT && !flush(peer)) {
                end(peer);
            } else if (events[index].events & ~(unsigned)EPOLLOUT && !receive(peer)) {
                end(peer);
            }
        }
    }
}
