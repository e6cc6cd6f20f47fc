// SPDX-License-Identifier: MIT

/// An immutable value that is stored in an object. A struct that keeps many or rarely set fields in a box stays small.
///
/// A change creates a new box, so copies of the struct are not affected.
final class Boxed<Value: Sendable>: Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }

    func changed(_ change: (inout Value) -> Void) -> Boxed {
        var value = value
        change(&value)
        return Boxed(value)
    }
}
