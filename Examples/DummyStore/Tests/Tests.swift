// SPDX-License-Identifier: MIT

import DummyStoreModel
import Testing
