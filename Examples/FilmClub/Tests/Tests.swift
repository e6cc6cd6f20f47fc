// SPDX-License-Identifier: MIT

import FilmClubModel
import Testing
