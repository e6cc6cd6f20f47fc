// SPDX-License-Identifier: MIT

/// An interceptor that pays for repetitions, so that a pipeline can give all of them one budget.
package protocol PayingInterceptor: Interceptor {
    /// What it pays from.
    var purse: AnyObject { get }
    /// False if the app has not named it: that of another interceptor may take its place.
    var isPurseChosen: Bool { get }
    /// The same, paying from `purse`.
    func paying(from purse: AnyObject) -> any Interceptor
}

/// An interceptor of which a pipeline has one.
package protocol SoleInterceptor: Interceptor {
    /// What it is one of.
    var soleKind: SoleKind { get }
}

/// What a pipeline must not have twice.
package struct SoleKind: Hashable, Sendable {
    /// `caches`.
    package let name: String
    /// What is wrong with two of them, as the end of a sentence.
    package let consequence: String

    package init(_ name: String, _ consequence: String) {
        self.name = name
        self.consequence = consequence
    }
}

extension Interceptor {
    /// Itself, without what was said where it was added.
    var plain: any Interceptor { (self as? PlacedInterceptor)?.base ?? self }

    /// Itself as one that pays.
    var paying: (any PayingInterceptor)? { plain as? any PayingInterceptor }
}
