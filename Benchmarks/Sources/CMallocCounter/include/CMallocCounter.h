// SPDX-License-Identifier: MIT

#pragma once

#include <stddef.h>

/// How often memory was allocated since the program began.
unsigned long curlew_allocation_count(void);
