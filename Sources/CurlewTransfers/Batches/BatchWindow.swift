// SPDX-License-Identifier: MIT

/// Bounds the calls that have started and whose outcomes have not been delivered, and restores their order.
package struct BatchWindow<Outcome> {
    private let width: Int
    private let inOrder: Bool
    private var started = 0
    private var delivered = 0
    /// The outcomes that wait for an earlier one.
    private var waiting: [Int: Outcome] = [:]

    package init(width: Int, inOrder: Bool) {
        self.width = width
        self.inOrder = inOrder
    }

    /// Whether another call may start.
    package var hasRoom: Bool { started - delivered < width }

    /// Counts a call that starts, and returns its index.
    package mutating func begin() -> Int {
        defer { started += 1 }
        return started
    }

    /// Takes the outcome of a call that has ended, and returns those that are due.
    package mutating func end(_ outcome: Outcome, at index: Int) -> [Outcome] {
        guard inOrder else {
            delivered += 1
            return [outcome]
        }
        waiting[index] = outcome
        var due: [Outcome] = []
        while let next = waiting.removeValue(forKey: delivered) {
            due.append(next)
            delivered += 1
        }
        return due
    }
}
