// SPDX-License-Identifier: MIT

import Curlew
