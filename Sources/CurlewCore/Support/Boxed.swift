// SPDX-License-Identifier: MIT

/// An immutable value behind one reference. It keeps a struct small whose fields are many or rarely set.
///
/// A change replaces the box, so copies never see it.
final class Boxed<Value: Sendable>: Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }

    /// Returns a box with a changed copy of the value.
    func changed(_ change: (inout Value) -> Void) -> Boxed {
        var value = value
        change(&value)
        return Boxed(value)
    }
}
