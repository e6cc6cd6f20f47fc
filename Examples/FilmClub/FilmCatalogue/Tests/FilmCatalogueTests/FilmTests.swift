// SPDX-License-Identifier: MIT

import FilmCatalogue
import Testing
