// SPDX-License-Identifier: MIT

// These decide by the rules of `CredentialScope`, or of the jar, which origin gets what they attach.
extension APIKeyInterceptor: ScopedInterceptor {}
extension BasicInterceptor: ScopedInterceptor {}
extension BearerInterceptor: ScopedInterceptor {}
extension CookieInterceptor: ScopedInterceptor {}
extension DigestInterceptor: ScopedInterceptor {}
extension SigningInterceptor: ScopedInterceptor {}
extension TokenInterceptor: ScopedInterceptor {}

// These change the origin: one strips what leaves it itself, the other stays at the host.
extension HSTSInterceptor: ScopedInterceptor {}
extension RedirectInterceptor: ScopedInterceptor {}

// These attach nothing, or what is harmless.
extension AttemptTimeoutInterceptor: ScopedInterceptor {}
extension CacheInterceptor: ScopedInterceptor {}
extension CircuitBreakerInterceptor: ScopedInterceptor {}
extension CoalescingInterceptor: ScopedInterceptor {}
extension ConcurrencyLimitInterceptor: ScopedInterceptor {}
extension ErrorHook: ScopedInterceptor {}
extension FallbackInterceptor: ScopedInterceptor {}
extension HTTPSOnlyInterceptor: ScopedInterceptor {}
extension HedgingInterceptor: ScopedInterceptor {}
extension LoggingInterceptor: ScopedInterceptor {}
extension RateLimitInterceptor: ScopedInterceptor {}
extension ResponseHook: ScopedInterceptor {}
extension RetryInterceptor: ScopedInterceptor {}
