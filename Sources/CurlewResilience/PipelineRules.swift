// SPDX-License-Identifier: MIT

package import CurlewCore

// These interceptors attach nothing that belongs to one origin, so they may see requests to every origin.
extension AttemptTimeoutInterceptor: ScopedInterceptor {}
extension CircuitBreakerInterceptor: ScopedInterceptor {}
extension ConcurrencyLimitInterceptor: ScopedInterceptor {}
extension FallbackInterceptor: ScopedInterceptor {}
extension HedgingInterceptor: ScopedInterceptor {}
extension RateLimitInterceptor: ScopedInterceptor {}

extension AttemptTimeoutInterceptor: SoleInterceptor {
    package var uniqueKind: UniqueKind { UniqueKind("attempt timeouts", "only the shortest has an effect") }
}

extension CircuitBreakerInterceptor: SoleInterceptor {
    /// The kind includes the scope, so that a pipeline can combine circuit breakers of different scopes.
    package var uniqueKind: UniqueKind {
        UniqueKind("circuit breakers for each \(breaker.scope)", "each failure counts twice")
    }
}

extension HedgingInterceptor: SoleInterceptor {
    package var uniqueKind: UniqueKind { UniqueKind("hedgings", "a call may be sent four times") }
}
