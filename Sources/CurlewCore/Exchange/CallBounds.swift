// SPDX-License-Identifier: MIT

/// What bounds a call: its timeouts and limits, behind one reference. Most calls set neither and share their client's.
final class CallBounds: Sendable {
    let timeouts: Timeouts
    let limits: Limits

    init(timeouts: Timeouts, limits: Limits) {
        self.timeouts = timeouts
        self.limits = limits
    }

    /// These with everything that `other` sets laid over them.
    func overridden(by other: CallBounds?) -> CallBounds {
        guard let other else { return self }
        return CallBounds(
            timeouts: timeouts.overridden(by: other.timeouts), limits: limits.overridden(by: other.limits))
    }
}
