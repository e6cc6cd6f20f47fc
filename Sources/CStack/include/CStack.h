// SPDX-License-Identifier: MIT
//
// Functions that only C can implement: the end of a thread's stack, and a pointer with a separate value for each
// thread.

#ifndef CURLEW_CSTACK_H
#define CURLEW_CSTACK_H

#include <stdint.h>

/// Returns the lowest address to which the stack of the calling thread may grow, not counting guard pages; 0 if it is
/// unknown. The system is queried once per thread.
uintptr_t curlew_stack_end(void);

/// Returns the address of the calling thread's pointer to the innermost dictionary that it is decoding. The pointer is
/// NULL at first.
const void **curlew_thread_dictionaries(void);

#endif
