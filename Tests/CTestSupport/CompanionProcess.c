// SPDX-License-Identifier: MIT

#define _GNU_SOURCE 1
#include "CompanionProcess.h"

#if defined(__linux__)

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <unistd.h>

extern char **environ;

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
    int code = posix_spawn(&process, path, &actions, NULL, words, environ);
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

#endif
