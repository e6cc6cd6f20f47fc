// SPDX-License-Identifier: MIT

import CurlewCore

// These interceptors decide with `CredentialScope` which origins receive their credentials.
extension APIKeyInterceptor: ScopedInterceptor {}
extension BasicInterceptor: ScopedInterceptor {}
extension BearerInterceptor: ScopedInterceptor {}
extension DigestInterceptor: ScopedInterceptor {}
extension SigningInterceptor: ScopedInterceptor {}
extension TokenInterceptor: ScopedInterceptor {}
