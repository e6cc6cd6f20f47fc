// SPDX-License-Identifier: MIT
// libcurl as a parser of responses, for Scripts/lib/differential.py: the response is in the socket before the request
// is sent.

#include <curl/curl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int listener = -1, server = -1;
static const char *response;
static size_t response_size;
static char *output;
static size_t capacity, used;

static void put(const void *bytes, size_t count) {
    if (count > capacity - used) count = capacity - used;
    memcpy(output + used, bytes, count);
    used += count;
}

// A number of bytes and a space, then the bytes.
static void put_block(const void *bytes, size_t count) {
    char text[32];
    put(text, (size_t)snprintf(text, sizeof text, "%zu ", count));
    put(bytes, count);
}

// Listens at an abstract address, and returns its name.
static const char *listen_at(void) {
    static struct sockaddr_un address = {.sun_family = AF_UNIX};
    int count = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "curlew-responses-%d", (int)getpid());
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)count);
    if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 5)) return NULL;
    return address.sun_path + 1;
}

// Called between connecting and sending.
static int respond(void *context, char *remote, char *local, int remote_port, int local_port) {
    (void)context, (void)remote, (void)local, (void)remote_port, (void)local_port;
    server = accept(listener, NULL, NULL);
    if (send(server, response, response_size, MSG_NOSIGNAL) != (ssize_t)response_size) return CURL_PREREQFUNC_ABORT;
    shutdown(server, SHUT_WR);
    return CURL_PREREQFUNC_OK;
}

static size_t receive(char *bytes, size_t size, size_t count, void *context) {
    (void)context;
    put_block(bytes, size * count);
    return size * count;
}

static void put_fields(CURL *handle, unsigned origin) {
    struct curl_header *field = NULL;
    while ((field = curl_easy_nextheader(handle, origin, -1, field))) {
        put_block(field->name, strlen(field->name));
        put_block(field->value, strlen(field->value));
    }
    put("-1 ", 3);
}

// Writes the blocks of content, -1, the names and values of fields, -1, those of trailers, -1. Returns the status, or a
// negative error of libcurl.
int read_with_curl(const char *method, const char *data, size_t count, char *buffer, size_t size, size_t *written) {
    static const char *address;
    if (!address) address = listen_at();
    // A handle for each: libcurl 7.88 reads freed memory if the first line of fields begins with a blank and the handle
    // had a response before.
    CURL *handle = curl_easy_init();
    curl_easy_setopt(handle, CURLOPT_URL, "http://127.0.0.1:9/");
    curl_easy_setopt(handle, CURLOPT_ABSTRACT_UNIX_SOCKET, address);
    curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, respond);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(handle, CURLOPT_HTTP09_ALLOWED, 0L);
    curl_easy_setopt(handle, CURLOPT_PROXY, "");
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    output = buffer;
    capacity = size;
    used = 0;
    response = data;
    response_size = count;
    curl_easy_setopt(handle, CURLOPT_NOBODY, strcmp(method, "HEAD") == 0 ? 1L : 0L);
    CURLcode result = curl_easy_perform(handle);
    close(server);
    put("-1 ", 3);
    put_fields(handle, CURLH_HEADER);
    put_fields(handle, CURLH_TRAILER);
    long status = 0;
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_cleanup(handle);
    *written = used;
    return result == CURLE_OK ? (int)status : -(int)result;
}
