// SPDX-License-Identifier: MIT

package import CurlewCore

// These attach nothing, or only harmless fields.
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
    /// Breakers of different scopes can be combined.
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

/// The budgets that pay for repetitions.
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
    /// The number of interceptors that retry.
    var retries: Int {
        get { facts[RetriesKey.self] }
        set { facts[RetriesKey.self] = newValue }
    }

    /// The budgets that pay for repetitions.
    var budgets: Budgets {
        get { facts[BudgetsKey.self] }
        set { facts[BudgetsKey.self] = newValue }
    }
}
