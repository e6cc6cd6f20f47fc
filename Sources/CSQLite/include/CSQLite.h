// SPDX-License-Identifier: MIT
//
// The system's SQLite. On Apple platforms its own module is there, and this one is empty.

#ifndef CURLEW_CSQLITE_H
#define CURLEW_CSQLITE_H

#if defined(__linux__)
#include <sqlite3.h>
#endif

#endif
