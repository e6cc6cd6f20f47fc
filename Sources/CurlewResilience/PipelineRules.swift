// SPDX-License-Identifier: MIT

package import CurlewCore

/// An interceptor that decides whether and when a request is sent, and does not change it. It attaches nothing that
/// belongs to one origin, so it may see requests to every origin.
package protocol PolicyInterceptor: ScopedInterceptor {}

extension PolicyInterceptor {
    /// Returns `.anonymous`, because the interceptor does not change requests.
    package func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .anonymous }
    /// False, because a preview sends nothing.
    package var runsInPreview: Bool { false }
}

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
