// SPDX-License-Identifier: MIT

import CurlewCore

// These apply the rules of `CredentialScope` to decide which origins receive what they attach.
extension APIKeyInterceptor: ScopedInterceptor {}
extension BasicInterceptor: ScopedInterceptor {}
extension BearerInterceptor: ScopedInterceptor {}
extension DigestInterceptor: ScopedInterceptor {}
extension SigningInterceptor: ScopedInterceptor {}
extension TokenInterceptor: ScopedInterceptor {}
