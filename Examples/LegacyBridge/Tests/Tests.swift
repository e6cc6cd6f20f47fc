// SPDX-License-Identifier: MIT

import LegacyBridgeModel
import Testing
