// SPDX-License-Identifier: MIT

/// Determines the next operation on a URLSession task from the desired state of its exchange.
///
/// URLSession counts suspensions: a task that was suspended twice must be resumed twice. The `state` of the task cannot
/// be used to avoid this, because it is updated on an internal queue: a task that is about to be suspended would appear
/// to be running, and would never be resumed. The last operation is therefore stored here. Used on one queue only.
struct TaskOrders {
    enum Order: Equatable, Sendable {
        case suspend
        case resume
        case cancel
    }

    private var isSuspended = false
    private var isCancelled = false

    /// Returns the next operation; nil if the task is already in the desired state, or was cancelled.
    mutating func next(wantsEnd: Bool, wantsSuspension: Bool) -> Order? {
        guard !isCancelled else { return nil }
        if wantsEnd {
            isCancelled = true
            return .cancel
        }
        guard wantsSuspension != isSuspended else { return nil }
        isSuspended = wantsSuspension
        return isSuspended ? .suspend : .resume
    }
}
