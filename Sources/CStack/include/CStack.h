// SPDX-License-Identifier: MIT
//
// What only C is told, or has: where the stack of a thread ends, and a pointer of which every thread has its own.

#ifndef CURLEW_CSTACK_H
#define CURLEW_CSTACK_H

#include <stdint.h>

/// The lowest address that the stack of the calling thread may grow to, not counting guard pages; 0 if the system does
/// not say. Asks the system once per thread.
uintptr_t curlew_stack_end(void);

/// The place of a pointer of the calling thread, at first null: the innermost dictionary that is being decoded there.
const void **curlew_thread_dictionaries(void);

#endif
