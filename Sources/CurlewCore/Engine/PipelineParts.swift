// SPDX-License-Identifier: MIT

/// An interceptor that repeats calls from a budget, which a pipeline can share among several.
package protocol PayingInterceptor: Interceptor {
    /// The budget.
    var purse: AnyObject { get }
    /// False if the app has not specified the budget, so that another interceptor's may replace it.
    var isPurseChosen: Bool { get }
    /// Returns this interceptor with `purse` as its budget.
    func paying(from purse: AnyObject) -> any Interceptor
}

/// An interceptor of which a pipeline may have only one.
package protocol SoleInterceptor: Interceptor {
    /// The kind of which it is the only one.
    var uniqueKind: UniqueKind { get }
}

/// A kind of interceptor that must not occur twice in a pipeline.
package struct UniqueKind: Hashable, Sendable {
    /// The plural name, such as `caches`.
    package let name: String
    /// The consequence of having two, as the end of a sentence.
    package let consequence: String

    package init(_ name: String, _ consequence: String) {
        self.name = name
        self.consequence = consequence
    }
}

extension Interceptor {
    /// The interceptor without the placement that was added to it.
    var plain: any Interceptor { (self as? PlacedInterceptor)?.base ?? self }

    /// The interceptor as one with a budget, if it has one.
    package var paying: (any PayingInterceptor)? { plain as? any PayingInterceptor }
}
