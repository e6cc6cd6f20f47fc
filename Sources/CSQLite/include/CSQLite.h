// SPDX-License-Identifier: MIT
//
// Imports the system's SQLite. Apple platforms have their own module for SQLite, so this one is empty there.

#ifndef CURLEW_CSQLITE_H
#define CURLEW_CSQLITE_H

#if !defined(__APPLE__)
#include <sqlite3.h>
#endif

#endif
