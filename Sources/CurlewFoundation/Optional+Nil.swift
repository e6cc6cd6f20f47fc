// SPDX-License-Identifier: MIT

/// Comparisons with nil that do not compare values.
///
/// If `Wrapped` is `Equatable`, Swift 6.3 compares the optional with an empty one by `Wrapped.==`, and the optimizer has
/// to remove that again. It does not for `Data`: each comparison calls its `==`, which it compiles in each module.
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
