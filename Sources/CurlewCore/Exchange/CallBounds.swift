// SPDX-License-Identifier: MIT

/// The timeouts and limits of a call, behind one reference. Most calls set neither and share those of their client.
final class CallBounds: Sendable {
    let timeouts: Timeouts
    let limits: Limits

    init(timeouts: Timeouts, limits: Limits) {
        self.timeouts = timeouts
        self.limits = limits
    }

    /// Returns these bounds, overridden by every timeout and limit that `other` sets.
    func overridden(by other: CallBounds?) -> CallBounds {
        guard let other else { return self }
        return CallBounds(
            timeouts: timeouts.overridden(by: other.timeouts), limits: limits.overridden(by: other.limits))
    }
}
