// SPDX-License-Identifier: MIT
//
// Name lookups as tests need them: the test program's own getaddrinfo goes before the C library's, also for the
// libraries that the program has loaded. All other names take the usual way.
//
//     *.hangs.test    no answer until the name is released
//     *.here.test     127.0.0.1, and counted
//     *.dual.test     ::1, then 127.0.0.1, and counted
//     *.once.test     127.0.0.1 for the first lookup, and no answer to others until the name is released
//     *.zone.test     fe80::1%lo, then 127.0.0.1, and counted; *.bare-zone.test the first alone
//     *.turns.test    127.0.0.2 for the first lookup, 127.0.0.1 for the second, and so on in turn; counted

// On Linux only: elsewhere libraries find the system's function, whatever the program brings.

#ifndef HANGING_LOOKUP_H
#define HANGING_LOOKUP_H

#if defined(__linux__)

/// How many lookups of one of these names there were, those that wait included.
int hanging_lookup_count(const char *name);

/// Lets lookups of the name fail, those of now and those to come.
void hanging_lookup_release(const char *name);

#endif

#endif
