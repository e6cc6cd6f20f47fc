// SPDX-License-Identifier: MIT

import CurlewCore

// HSTS changes the scheme and stays at the same host. These attach nothing.
extension HSTSInterceptor: ScopedInterceptor {}
extension HTTPSOnlyInterceptor: ScopedInterceptor {}
