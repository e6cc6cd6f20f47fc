// SPDX-License-Identifier: MIT

#ifndef COMPANION_PROCESS_H
#define COMPANION_PROCESS_H

/// Starts a program with a line to its input and one from its outputs, and with no other descriptor.
///
/// Gives its number, or the negative errno. `words` ends with NULL and begins with the program's name. Linux and macOS;
/// other Apple platforms start no programs, and the result is -ENOTSUP.
int companion_process_start(const char *path, char *const words[], const char *folder, int *input, int *output);

#endif
