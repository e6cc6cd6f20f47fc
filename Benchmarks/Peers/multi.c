// SPDX-License-Identifier: MIT
//
// The floor of Curlew's engine on Linux: the same calls by a loop in C over libcurl's multi interface, on one thread,
// with nothing between. Prints a sample as JSON.
//
//     peer-libcurl WIDTH SECONDS URL WORK      work is typed, of which the JSON is not parsed, or bytes:COUNT

#define _GNU_SOURCE 1
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>

enum { most_lanes = 4096, event_limit = 256 };

typedef struct {
    CURL *easy;
    char *body;
    size_t length, room;
    double begun;
} lane;

static lane lanes[most_lanes];
static CURLM *multi;
static int poller;
static long timer_ms = -1;
static double *latencies;
static size_t count, room_for;

static void fail(const char *text) {
    fprintf(stderr, "%s\n", text);
    exit(1);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double cpu(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
        + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/// Megabytes, from the system's list of facts; zero where there is none.
static double resident(const char *name) {
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    double kilobytes = 0;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, name, strlen(name)) == 0) kilobytes = atof(line + strlen(name));
    }
    if (file != NULL) fclose(file);
    return kilobytes / 1024;
}

static size_t receive(char *bytes, size_t size, size_t number, void *context) {
    lane *self = context;
    size_t added = size * number;
    if (self->length + added > self->room) {
        self->room = (self->length + added) * 2;
        self->body = realloc(self->body, self->room);
        if (self->body == NULL) fail("no memory");
    }
    memcpy(self->body + self->length, bytes, added);
    self->length += added;
    return added;
}

static int watch(CURL *easy, curl_socket_t socket, int what, void *context, void *known) {
    (void)easy, (void)context;
    struct epoll_event event = {.data.fd = socket};
    if (what == CURL_POLL_REMOVE) {
        epoll_ctl(poller, EPOLL_CTL_DEL, socket, &event);
        return 0;
    }
    if (what != CURL_POLL_OUT) event.events |= EPOLLIN;
    if (what != CURL_POLL_IN) event.events |= EPOLLOUT;
    if (epoll_ctl(poller, known == NULL ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, socket, &event) != 0) {
        epoll_ctl(poller, known == NULL ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket, &event);
    }
    curl_multi_assign(multi, socket, &lanes);
    return 0;
}

static int set_timer(CURLM *handle, long milliseconds, void *context) {
    (void)handle, (void)context;
    timer_ms = milliseconds;
    return 0;
}

static void begin(lane *self) {
    self->length = 0;
    self->begun = now();
    if (curl_multi_add_handle(multi, self->easy) != CURLM_OK) fail("curl_multi_add_handle");
}

static void finish(lane *self, CURLcode code, size_t expected) {
    long status = 0;
    curl_easy_getinfo(self->easy, CURLINFO_RESPONSE_CODE, &status);
    if (code != CURLE_OK) fail(curl_easy_strerror(code));
    if (status != 200 || (expected > 0 && self->length != expected)) fail("wrong answer");
    if (count == room_for) {
        room_for = room_for * 2 + 65536;
        latencies = realloc(latencies, room_for * sizeof *latencies);
        if (latencies == NULL) fail("no memory");
    }
    latencies[count++] = (now() - self->begun) * 1e6;
}

/// `width` lanes call one after the other until the time is over.
static void load(int width, double seconds, size_t expected) {
    double end = now() + seconds;
    int running = width, still = 0;
    count = 0;
    for (int index = 0; index < width; index++) begin(&lanes[index]);
    while (running > 0) {
        struct epoll_event events[event_limit];
        int found = epoll_wait(poller, events, event_limit, timer_ms < 0 ? 1000 : (int)timer_ms);
        if (found <= 0) {
            timer_ms = -1;
            curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &still);
        }
        for (int index = 0; index < found; index++) {
            int bits = (events[index].events & (EPOLLIN | EPOLLHUP | EPOLLERR) ? CURL_CSELECT_IN : 0)
                | (events[index].events & EPOLLOUT ? CURL_CSELECT_OUT : 0);
            curl_multi_socket_action(multi, events[index].data.fd, bits, &still);
        }
        // What begins now may be over at once.
        for (;;) {
            CURLMsg *message;
            int left = 0;
            while ((message = curl_multi_info_read(multi, &left)) != NULL) {
                if (message->msg != CURLMSG_DONE) continue;
                lane *self = NULL;
                CURLcode code = message->data.result;
                curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &self);
                curl_multi_remove_handle(multi, self->easy);
                finish(self, code, expected);
                if (now() < end) begin(self); else running--;
            }
            if (timer_ms != 0) break;
            timer_ms = -1;
            curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &still);
        }
    }
}

static int ascending(const void *left, const void *right) {
    double difference = *(const double *)left - *(const double *)right;
    return difference < 0 ? -1 : difference > 0;
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "version") == 0) {
        printf("libcurl %s\n", curl_version_info(CURLVERSION_NOW)->version);
        return 0;
    }
    if (argc != 5) fail("usage: peer-libcurl WIDTH SECONDS URL WORK");
    int width = atoi(argv[1]);
    double seconds = atof(argv[2]);
    if (width < 1 || width > most_lanes) fail("the width has to be 1 to 4096");
    size_t expected = strncmp(argv[4], "bytes:", 6) == 0 ? strtoul(argv[4] + 6, NULL, 10) : 0;
    if (expected == 0 && strcmp(argv[4], "typed") != 0) fail("the work has to be typed or bytes:COUNT");

    curl_global_init(CURL_GLOBAL_DEFAULT);
    multi = curl_multi_init();
    poller = epoll_create1(EPOLL_CLOEXEC);
    if (multi == NULL || poller < 0) fail("no descriptor");
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, watch);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, set_timer);
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)(width + 64));
    const char *roots = getenv("SSL_CERT_FILE");
    for (int index = 0; index < width; index++) {
        CURL *easy = curl_easy_init();
        if (easy == NULL) fail("no memory");
        lanes[index].easy = easy;
        curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(easy, CURLOPT_URL, argv[3]);
        curl_easy_setopt(easy, CURLOPT_PRIVATE, &lanes[index]);
        curl_easy_setopt(easy, CURLOPT_WRITEDATA, &lanes[index]);
        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, receive);
        curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
        curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 32768L);
        if (roots != NULL) curl_easy_setopt(easy, CURLOPT_CAINFO, roots);
    }
    double warm_up = seconds / 4 < 0.3 ? seconds / 4 : 0.3;
    load(width, warm_up, expected);
    double before = resident("VmRSS:"), cpu_before = cpu(), start = now();
    load(width, seconds, expected);
    double elapsed = now() - start, used = cpu() - cpu_before;
    qsort(latencies, count, sizeof *latencies, ascending);
    double peak = resident("VmHWM:");
    printf(
        "{\"requestsPerSecond\": %f, \"cpuMicroseconds\": %f, \"median\": %f, \"p99\": %f, \"peakMegabytes\": %f, "
        "\"growthMegabytes\": %f}\n",
        (double)count / elapsed, used * 1e6 / (double)count, latencies[count / 2],
        latencies[(size_t)((double)(count - 1) * 0.99)], peak, peak - before);
    return 0;
}
