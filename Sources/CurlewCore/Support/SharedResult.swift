// SPDX-License-Identifier: MIT

/// A result that is set once and for which any number of tasks may wait.
///
/// When a waiting task is cancelled, or its deadline passes, only that wait ends: the other waits and the work
/// continue. `Task.value` cannot do that, so waits for shared work use this type.
package final class SharedResult<Value: Sendable>: Sendable {
    private struct State {
        var outcome: Result<Value, any Error>?
        var waiters: [UInt64: Waiter] = [:]
        var lastWaiter: UInt64 = 0
    }

    /// The state of one wait. A cancellation or a deadline may end the wait before the task has suspended, so `leaving`
    /// keeps the error.
    private enum Waiter {
        case coming
        case waiting(CheckedContinuation<Value, any Error>)
        case leaving(any Error)
    }

    private let state = Locked(State())

    package init() {}

    /// Sets the outcome for all present and future waiters. Returns false if it was already set.
    @discardableResult
    package func finish(_ outcome: Result<Value, any Error>) -> Bool {
        let waiters = state.withLock { state -> [CheckedContinuation<Value, any Error>]? in
            guard state.outcome == nil else { return nil }
            state.outcome = outcome
            defer { state.waiters = [:] }
            return state.waiters.values.compactMap { if case .waiting(let waiter) = $0 { waiter } else { nil } }
        }
        guard let waiters else { return false }
        for waiter in waiters { waiter.resume(with: outcome) }
        return true
    }

    /// Waits for the outcome, and returns its value or throws its error.
    ///
    /// Before there is an outcome, throws `CancellationError` when the waiting task is cancelled, and `DeadlinePassed`
    /// when `deadline` passes.
    package func wait(until deadline: Deadline = .never, on time: any TimeSource = SystemTime()) async throws -> Value {
        let ticket = state.withLock { state -> UInt64? in
            guard state.outcome == nil else { return nil }
            state.lastWaiter += 1
            state.waiters[state.lastWaiter] = .coming
            return state.lastWaiter
        }
        guard let ticket else { return try await suspend(0) }
        defer { state.withLock { $0.waiters[ticket] = nil } }
        if deadline.hasPassed(at: time.now) { throw DeadlinePassed() }
        let timer = deadline.instant.map { instant in
            Task {
                try await time.alarm(at: instant)
                leave(ticket, with: DeadlinePassed())
            }
        }
        defer { timer?.cancel() }
        return try await withTaskCancellationHandler {
            try await suspend(ticket)
        } onCancel: {
            leave(ticket, with: CancellationError())
        }
    }

    private func suspend(_ ticket: UInt64) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let outcome = state.withLock { state -> Result<Value, any Error>? in
                if let outcome = state.outcome { return outcome }
                if case .leaving(let error) = state.waiters[ticket] { return .failure(error) }
                state.waiters[ticket] = .waiting(continuation)
                return nil
            }
            if let outcome { continuation.resume(with: outcome) }
        }
    }

    private func leave(_ ticket: UInt64, with error: any Error) {
        let waiter = state.withLock { state -> CheckedContinuation<Value, any Error>? in
            switch state.waiters[ticket] {
            case .coming:
                state.waiters[ticket] = .leaving(error)
                return nil
            case .waiting(let waiter):
                state.waiters[ticket] = nil
                return waiter
            case .leaving, nil: return nil
            }
        }
        waiter?.resume(throwing: error)
    }
}
