// SPDX-License-Identifier: MIT

// These apply the rules of `CredentialScope`, or of the cookie jar, to decide which origins receive what they attach.
extension APIKeyInterceptor: ScopedInterceptor {}
extension BasicInterceptor: ScopedInterceptor {}
extension BearerInterceptor: ScopedInterceptor {}
extension CookieInterceptor: ScopedInterceptor {}
extension DigestInterceptor: ScopedInterceptor {}
extension SigningInterceptor: ScopedInterceptor {}
extension TokenInterceptor: ScopedInterceptor {}

// These change the origin. Redirects strip the fields that must not reach another origin; HSTS stays at the same host.
extension HSTSInterceptor: ScopedInterceptor {}
extension RedirectInterceptor: ScopedInterceptor {}

// These attach nothing, or only harmless fields.
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
