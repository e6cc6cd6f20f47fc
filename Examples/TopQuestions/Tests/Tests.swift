// SPDX-License-Identifier: MIT

import TopQuestionsModel
import Testing
