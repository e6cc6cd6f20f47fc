// SPDX-License-Identifier: MIT

/// A type whose values are equal if their keys are equal.
protocol ComparedByKey: Hashable {
    associatedtype ComparisonKey: Hashable
    var comparisonKey: ComparisonKey { get }
}

extension ComparedByKey {
    /// Returns whether the keys are equal.
    public static func == (left: Self, right: Self) -> Bool { left.comparisonKey == right.comparisonKey }

    /// Hashes the key.
    public func hash(into hasher: inout Hasher) { hasher.combine(comparisonKey) }
}
