// SPDX-License-Identifier: MIT

/// An outcome that comes once and that any number of tasks may wait for.
///
/// A waiter that is cancelled, or whose deadline comes, goes away alone: the others and the work go on. That is what
/// `Task.value` cannot do, and why work that several calls share is waited for through this.
package final class OneShot<Value: Sendable>: Sendable {
    private struct State {
        var outcome: Result<Value, any Error>?
        var waiters: [UInt64: CheckedContinuation<Value, any Error>] = [:]
        var lastWaiter: UInt64 = 0
    }

    private let state = Locked(State())

    package init() {}

    /// Everybody gets `outcome`, now and later. The first one counts; false if there was one before.
    @discardableResult
    package func finish(_ outcome: Result<Value, any Error>) -> Bool {
        let waiters = state.withLock { state -> [CheckedContinuation<Value, any Error>]? in
            guard state.outcome == nil else { return nil }
            state.outcome = outcome
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        guard let waiters else { return false }
        for waiter in waiters { waiter.resume(with: outcome) }
        return true
    }

    /// The outcome.
    ///
    /// Throws `CancellationError` when the waiting task is cancelled, and `DeadlinePassed` when `deadline` comes first.
    package func wait(until deadline: Deadline = .never, on time: any TimeSource = SystemTime()) async throws -> Value {
        let ticket = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        let timer = deadline.instant.map { instant in
            Task {
                try await time.sleep(until: instant)
                leave(ticket, with: DeadlinePassed())
            }
        }
        defer { timer?.cancel() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome = state.withLock { state -> Result<Value, any Error>? in
                    if let outcome = state.outcome { return outcome }
                    if Task.isCancelled { return .failure(CancellationError()) }
                    state.waiters[ticket] = continuation
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            leave(ticket, with: CancellationError())
        }
    }

    private func leave(_ ticket: UInt64, with error: any Error) {
        let waiter = state.withLock { $0.waiters.removeValue(forKey: ticket) }
        waiter?.resume(throwing: error)
    }
}
