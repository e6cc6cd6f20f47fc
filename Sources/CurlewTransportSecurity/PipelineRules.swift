// SPDX-License-Identifier: MIT

import CurlewCore

// The interceptor attaches nothing.
extension HTTPSOnlyInterceptor: ScopedInterceptor {}
