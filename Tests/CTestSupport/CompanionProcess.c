// SPDX-License-Identifier: MIT

#define _GNU_SOURCE 1
#include "CompanionProcess.h"

#if defined(__linux__)

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

extern char **environ;

/// The environment without the folders that Scripts/libcurls puts before those of the system: a server gets the
/// system's libraries, whatever the tests were given. NULL without memory; the caller frees the array, not its texts.
static char **environment_of_companions(void) {
    static const char name[] = "LD_LIBRARY_PATH=";
    size_t count = 0;
    while (environ[count] != NULL) count++;
    char **copy = malloc((count + 1) * sizeof *copy);
    if (copy == NULL) return NULL;
    size_t kept = 0;
    for (size_t index = 0; index < count; index++) {
        if (strncmp(environ[index], name, sizeof name - 1) != 0) copy[kept++] = environ[index];
    }
    copy[kept] = NULL;
    return copy;
}

int companion_process_start(const char *path, char *const words[], const char *folder, int *input, int *output) {
    int to_child[2], from_child[2];
    // A socket, because writing to one without a reader can be had without a signal.
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, to_child) != 0) return -errno;
    if (pipe2(from_child, O_CLOEXEC) != 0) {
        int code = errno;
        close(to_child[0]);
        close(to_child[1]);
        return -code;
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addchdir_np(&actions, folder);
    posix_spawn_file_actions_adddup2(&actions, to_child[0], 0);
    posix_spawn_file_actions_adddup2(&actions, from_child[1], 1);
    posix_spawn_file_actions_adddup2(&actions, from_child[1], 2);
    posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    pid_t process = 0;
    char **environment = environment_of_companions();
    int code = environment == NULL ? ENOMEM : posix_spawn(&process, path, &actions, NULL, words, environment);
    free(environment);
    posix_spawn_file_actions_destroy(&actions);
    close(to_child[0]);
    close(from_child[1]);
    if (code != 0) {
        close(to_child[1]);
        close(from_child[0]);
        return -code;
    }
    *input = to_child[1];
    *output = from_child[0];
    return process;
}

#else

#include <errno.h>

#if defined(__APPLE__)
#include <TargetConditionals.h>
#endif

#if defined(__APPLE__) && TARGET_OS_OSX

#include <crt_externs.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <unistd.h>

int companion_process_start(const char *path, char *const words[], const char *folder, int *input, int *output) {
    int to_child[2], from_child[2], on = 1;
    // A socket, because writing to one without a reader can be had without a signal.
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, to_child) != 0) return -errno;
    if (pipe(from_child) != 0) {
        int code = errno;
        close(to_child[0]);
        close(to_child[1]);
        return -code;
    }
    fcntl(to_child[1], F_SETFD, FD_CLOEXEC);
    fcntl(from_child[0], F_SETFD, FD_CLOEXEC);
    setsockopt(to_child[1], SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addchdir_np(&actions, folder);
    posix_spawn_file_actions_adddup2(&actions, to_child[0], 0);
    posix_spawn_file_actions_adddup2(&actions, from_child[1], 1);
    posix_spawn_file_actions_adddup2(&actions, from_child[1], 2);
    // Closes everything that the actions above do not name.
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_CLOEXEC_DEFAULT);
    pid_t process = 0;
    int code = posix_spawn(&process, path, &actions, &attributes, words, *_NSGetEnviron());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    close(to_child[0]);
    close(from_child[1]);
    if (code != 0) {
        close(to_child[1]);
        close(from_child[0]);
        return -code;
    }
    *input = to_child[1];
    *output = from_child[0];
    return process;
}

#else

int companion_process_start(const char *path, char *const words[], const char *folder, int *input, int *output) {
    (void)path, (void)words, (void)folder, (void)input, (void)output;
    return -ENOTSUP;
}

#endif

#endif
