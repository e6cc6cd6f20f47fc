// SPDX-License-Identifier: MIT
//
// A system that has no descriptor for an event loop, as the engine meets it: the test program's own epoll_create1 goes
// before the C library's. A limit of descriptors would not do: the system's queues (libdispatch) look at their threads
// through files from time to time, and end the process if they get none.

#ifndef REFUSED_DESCRIPTORS_H
#define REFUSED_DESCRIPTORS_H

#if defined(__linux__)

#include <stdbool.h>

/// From now on event loops of the engine get no descriptor of this kind, or get one again.
void refuse_epoll_descriptors(bool value);

#endif

#endif
