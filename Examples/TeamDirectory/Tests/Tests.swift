// SPDX-License-Identifier: MIT

import TeamDirectoryModel
import Testing
