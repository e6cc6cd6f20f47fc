// SPDX-License-Identifier: MIT

#ifndef CTEST_SUPPORT_H
#define CTEST_SUPPORT_H

#include "CompanionProcess.h"
#include "HangingLookup.h"
#include "RefusedDescriptors.h"
#include "Loopback.h"

#endif
