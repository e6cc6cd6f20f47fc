// SPDX-License-Identifier: MIT

/// An interceptor that pays for repeated requests from a budget, which several interceptors of a pipeline can share.
package protocol PayingInterceptor: Interceptor {
    /// The budget that pays for repeated requests.
    var budget: RetryBudget { get }
    /// False if the app has not specified the budget, so that the budget of another interceptor may replace it.
    var isBudgetChosen: Bool { get }
    /// Returns this interceptor with `budget` as its budget.
    func paying(from budget: RetryBudget) -> any Interceptor
}

/// An interceptor of a kind that may occur only once in a pipeline.
package protocol SoleInterceptor: Interceptor {
    /// The kind that may occur only once.
    var uniqueKind: UniqueKind { get }
}

/// A kind of interceptor that must not occur twice in a pipeline.
package struct UniqueKind: Hashable, Sendable {
    /// The plural name, such as `caches`.
    package let name: String
    /// The consequence of having more than one, as the end of a sentence.
    package let consequence: String

    package init(_ name: String, _ consequence: String) {
        self.name = name
        self.consequence = consequence
    }
}

extension Interceptor {
    /// The interceptor without the changes of `placed(at:changesPrincipal:)`.
    var plain: any Interceptor { (self as? PlacedInterceptor)?.base ?? self }

    /// The interceptor as an observer of the client's calls; nil if it is none.
    var observing: (any ImmediateObserver)? {
        guard let observer = unwrapped as? any ImmediateObserver, !observer.kinds.isEmpty else { return nil }
        return observer
    }

    /// Whether the interceptor only observes. One with a declared effect on responses stays in the chain for it.
    var onlyObserves: Bool { (self as? any ObservingInterceptor)?.onlyObserves ?? false }

    /// The interceptor as a `PayingInterceptor`; nil if it has no budget.
    package var paying: (any PayingInterceptor)? { plain as? any PayingInterceptor }
}
