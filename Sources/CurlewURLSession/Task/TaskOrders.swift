// SPDX-License-Identifier: MIT

/// What a task of URLSession is told, from what its exchange wants by now.
///
/// URLSession counts: a task that was suspended twice has to be resumed twice. Its `state` cannot be asked instead,
/// because it follows on a queue of URLSession's own: a task that is about to stand still would count as running, and
/// would never be resumed. So what was told last is kept here. Used on one queue only.
struct TaskOrders {
    enum Order: Equatable, Sendable {
        case suspend
        case resume
        case cancel
    }

    private var isSuspended = false
    private var isCancelled = false

    /// What to tell the task now; nil when it does already what it should.
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
