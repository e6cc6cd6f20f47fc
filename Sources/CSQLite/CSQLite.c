// SPDX-License-Identifier: MIT

#include "CSQLite.h"
