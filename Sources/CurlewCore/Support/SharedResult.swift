// SPDX-License-Identifier: MIT

/// A result that is set once and for which any number of tasks may wait.
///
/// When a waiting task is cancelled, or its deadline passes, only that wait ends: the other waits and the work
/// continue. `Task.value` cannot do that, so waits for shared work use this type.
package final class SharedResult<Value: Sendable>: Sendable {
    private let outcome = Monitor<Result<Value, any Error>?>(nil)

    package init() {}

    /// Sets the outcome for all present and future waiters. Returns false if it was already set.
    @discardableResult
    package func finish(_ result: Result<Value, any Error>) -> Bool {
        outcome.withLock { outcome in
            guard outcome == nil else { return false }
            outcome = result
            return true
        }
    }

    /// Waits for the outcome, and returns its value or throws its error.
    ///
    /// Before there is an outcome, throws `CancellationError` when the waiting task is cancelled, and `DeadlinePassed`
    /// when `deadline` passes.
    package func wait(
        until deadline: SystemTime.Deadline = .never, on time: any TimeSource = SystemTime()
    ) async throws -> Value {
        if let result = outcome.withLock({ $0 }) { return try result.get() }
        if deadline.hasPassed(at: time.now) { throw DeadlinePassed() }
        let isLate = Locked(false)
        let timer = deadline.instant.map { instant in
            Task {
                try await time.alarm(at: instant)
                isLate.withLock { $0 = true }
                // The waits check their conditions again.
                outcome.withLock { _ in }
            }
        }
        defer { timer?.cancel() }
        let result = await outcome.wait { outcome in
            outcome ?? (isLate.withLock { $0 } ? .failure(DeadlinePassed()) : nil)
        }
        guard let result else { throw CancellationError() }
        return try result.get()
    }
}

/// Runs `work`, which may hang, and waits for its result until `deadline` at most. When the wait ends early, the work
/// is not cancelled: it continues in the background.
///
/// Throws `DeadlinePassed` when the deadline passes, `CancellationError` as soon as the waiting task is cancelled, and
/// any error that `work` throws.
package func bounded<Value: Sendable>(
    until deadline: SystemTime.Deadline, on time: any TimeSource,
    _ work: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    let outcome = SharedResult<Value>()
    Task {
        do {
            outcome.finish(.success(try await work()))
        } catch {
            outcome.finish(.failure(error))
        }
    }
    return try await outcome.wait(until: deadline, on: time)
}
