// SPDX-License-Identifier: MIT

#include "CCrypto.h"
