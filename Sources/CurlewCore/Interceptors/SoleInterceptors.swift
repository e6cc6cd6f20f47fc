// SPDX-License-Identifier: MIT

extension AttemptTimeoutInterceptor: SoleInterceptor {
    package var soleKind: SoleKind { SoleKind("attempt timeouts", "only the shortest acts") }
}

extension CacheInterceptor: SoleInterceptor {
    package var soleKind: SoleKind { SoleKind("caches", "the outer one keeps what the inner one has kept") }
}

extension CircuitBreakerInterceptor: SoleInterceptor {
    /// Breakers of different scopes can be combined.
    package var soleKind: SoleKind {
        SoleKind("circuit breakers for each \(breaker.scope)", "each failure counts twice")
    }
}

extension CoalescingInterceptor: SoleInterceptor {
    package var soleKind: SoleKind { SoleKind("coalescings", "the inner one never sees two equal calls") }
}

extension HedgingInterceptor: SoleInterceptor {
    package var soleKind: SoleKind { SoleKind("hedgings", "a call may be sent four times") }
}
