// SPDX-License-Identifier: MIT

/// The timeouts and limits of a call, in one shared object. Most calls set neither and share the object of their
/// client.
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
