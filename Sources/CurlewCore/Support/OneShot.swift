// SPDX-License-Identifier: MIT

/// An outcome that comes once and that any number of tasks may wait for.
///
/// A waiter that is cancelled, or whose deadline comes, goes away alone: the others and the work go on. That is what
/// `Task.value` cannot do, and why work that several calls share is waited for through this.
package final class OneShot<Value: Sendable>: Sendable {
    private struct State {
        var outcome: Result<Value, any Error>?
        var waiters: [UInt64: Waiter] = [:]
        var lastWaiter: UInt64 = 0
    }

    /// What ends a wait may come before the waiter has lain down, and must not be lost.
    private enum Waiter {
        case coming
        case waiting(CheckedContinuation<Value, any Error>)
        case leaving(any Error)
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
            return state.waiters.values.compactMap { if case .waiting(let waiter) = $0 { waiter } else { nil } }
        }
        guard let waiters else { return false }
        for waiter in waiters { waiter.resume(with: outcome) }
        return true
    }

    /// The outcome.
    ///
    /// Throws `CancellationError` when the waiting task is cancelled, and `DeadlinePassed` when `deadline` comes first.
    package func wait(until deadline: Deadline = .never, on time: any TimeSource = SystemTime()) async throws -> Value {
        let ticket = state.withLock { state -> UInt64? in
            guard state.outcome == nil else { return nil }
            state.lastWaiter += 1
            state.waiters[state.lastWaiter] = .coming
            return state.lastWaiter
        }
        guard let ticket else { return try await lieDown(0) }
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
            try await lieDown(ticket)
        } onCancel: {
            leave(ticket, with: CancellationError())
        }
    }

    private func lieDown(_ ticket: UInt64) async throws -> Value {
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
