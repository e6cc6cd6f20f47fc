// SPDX-License-Identifier: MIT

import CurlewCore

// These interceptors attach no credential. HSTS changes the scheme, but not the host.
extension HSTSInterceptor: ScopedInterceptor {}
extension HTTPSOnlyInterceptor: ScopedInterceptor {}
