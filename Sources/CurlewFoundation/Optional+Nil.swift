// SPDX-License-Identifier: MIT

/// Comparisons with nil that do not compare values. Swift 6.3 compares an optional of an `Equatable` type with an empty
/// one by `==` of the type. For `Data`, the optimizer does not remove that, and each module compiles it.
extension Optional where Wrapped: Equatable {
    @inlinable @inline(__always)
    package static func == (left: Wrapped?, right: _OptionalNilComparisonType) -> Bool {
        if case .none = left { true } else { false }
    }

    @inlinable @inline(__always)
    package static func != (left: Wrapped?, right: _OptionalNilComparisonType) -> Bool {
        if case .none = left { false } else { true }
    }
}
