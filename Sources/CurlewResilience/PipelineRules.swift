// SPDX-License-Identifier: MIT

package import CurlewCore

// These interceptors attach nothing that belongs to one origin, so they may see requests to every origin.
extension AttemptTimeoutInterceptor: ScopedInterceptor {}
extension CircuitBreakerInterceptor: ScopedInterceptor {}
extension ConcurrencyLimitInterceptor: ScopedInterceptor {}
extension FallbackInterceptor: ScopedInterceptor {}
extension HedgingInterceptor: ScopedInterceptor {}
extension RateLimitInterceptor: ScopedInterceptor {}
extension RetryInterceptor: ScopedInterceptor {}

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

private enum RetriesKey: FactKey {
    static let defaultValue = 0
}

private enum BudgetsKey: FactKey {
    static let defaultValue = Budgets()
}

/// The budgets that the retries and second requests of a pipeline draw on.
struct Budgets: SetupFact {
    private var identities: Set<ObjectIdentifier> = []

    mutating func insert(_ budget: RetryBudget) {
        identities.insert(ObjectIdentifier(budget))
    }

    package var problem: String? {
        guard identities.count > 1 else { return nil }
        return """
            The interceptors that repeat calls use \(identities.count) budgets. Pass the same RetryBudget to all of \
            them.
            """
    }
}

extension Pipeline.Environment {
    /// The number of `.retry()` interceptors in the pipeline.
    var retries: Int {
        get { facts[RetriesKey.self] }
        set { facts[RetriesKey.self] = newValue }
    }

    /// The budgets that the retries and second requests of the pipeline draw on.
    var budgets: Budgets {
        get { facts[BudgetsKey.self] }
        set { facts[BudgetsKey.self] = newValue }
    }
}
