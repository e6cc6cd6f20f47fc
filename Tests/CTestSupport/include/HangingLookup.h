// SPDX-License-Identifier: MIT
//
// Name lookups that never answer, for tests: the test program's own getaddrinfo goes before the C library's, also for
// the libraries that the program has loaded. Names that end in ".hangs.test" wait until they are released; all others
// take the usual way.

#ifndef HANGING_LOOKUP_H
#define HANGING_LOOKUP_H

/// How many lookups of the name are waiting or have waited.
int hanging_lookup_count(const char *name);

/// Lets lookups of the name fail, those of now and those to come.
void hanging_lookup_release(const char *name);

#endif
