// SPDX-License-Identifier: MIT

/// A lock together with the value that it protects, and the tasks that wait for a condition on the value.
///
///     let permits = Monitor(8)
///     await permits.wait { free -> Void? in free > 0 ? (free -= 1) : nil }
///     permits.withLock { $0 += 1 }
///
/// - The conditions are checked under the lock: when a wait begins, and after each use of the value, in the order in
///   which the waits began.
/// - A wait ends exactly once, when its condition returns a result or its task is cancelled. A result is never lost: if
///   the condition has returned it, the wait returns it too.
/// - A use of the value costs as much as with `Locked` while no task waits.
package final class Monitor<Value>: Sendable {
    private let lock = Locked(MonitorQueue())
    // Accessed only while the lock is held, so the accesses never overlap.
    @exclusivity(unchecked) private nonisolated(unsafe) var value: Value

    package init(_ value: sending Value) {
        self.value = value
    }

    /// Runs `body` with exclusive access to the value. Afterwards, continues the tasks whose conditions hold. Not
    /// recursive: `body` must not use the monitor again.
    package func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        var ended: [MonitorQueue.Resume] = []
        defer { for resume in ended { resume() } }
        return try lock.withLock { queue throws(Failure) in
            defer { ended = queue.removeEnded() }
            return try body(&value)
        }
    }

    /// Waits until `condition` returns a result. Returns nil if the task is cancelled and the condition does not hold.
    ///
    /// `condition` runs on any thread, under the lock, and must not use the monitor. It may change the value if it
    /// returns a result.
    package func wait<Result: Sendable>(
        until condition: @escaping @Sendable (inout Value) -> Result?
    ) async -> Result? {
        if let result = withLock({ condition(&$0) }) { return result }
        let number = lock.withLock { $0.newNumber() }
        return await withTaskCancellationHandler {
            await outcome(number, onCancel: .some(nil)) { value in condition(&value).map { .some($0) } }
        } onCancel: {
            lock.withLock { $0.remove(number) }?.cancel?()
        }
    }

    /// Waits until `condition` returns a result, also if the task is cancelled. Otherwise as `wait(until:)`.
    package func waitThroughCancellation<Result: Sendable>(
        until condition: @escaping @Sendable (inout Value) -> Result?
    ) async -> Result {
        await outcome(lock.withLock { $0.newNumber() }, onCancel: nil, condition)
    }

    /// - `cancelled`: the outcome of a cancelled wait; nil if cancellation does not end it.
    private func outcome<Outcome: Sendable>(
        _ number: UInt64, onCancel cancelled: Outcome?, _ condition: @escaping @Sendable (inout Value) -> Outcome?
    ) async -> Outcome {
        let outcome = await withUnsafeContinuation { (continuation: UnsafeContinuation<Outcome, Never>) in
            let resume = { @Sendable outcome in { @Sendable in continuation.resume(returning: outcome) } }
            let cancel = cancelled.map(resume)
            let check: MonitorQueue.Check = { condition(&self.value).map(resume) }
            let ended = lock.withLock { queue -> [MonitorQueue.Resume] in
                if let resume = check() { return [resume] + queue.removeEnded() }
                // The flag is set before the handler of a cancellation runs, which finds the wait if it is added here.
                if let cancel, Task.isCancelled { return [cancel] }
                queue.waits.append(MonitorQueue.Wait(number: number, check: check, cancel: cancel))
                return []
            }
            for resume in ended { resume() }
        }
        // ThreadSanitizer does not see the order of a continuation that is resumed before its task has suspended. The
        // resuming thread has released this lock before.
        lock.withLock { _ in }
        return outcome
    }
}

/// The waits of a monitor, in their order. Independent of its types, for the same reason as the lock of `Locked`.
private struct MonitorQueue {
    /// Resumes the task of a wait. Called after the lock is released.
    typealias Resume = @Sendable () -> Void
    /// Checks the condition of a wait. Called under the lock.
    typealias Check = @Sendable () -> Resume?

    struct Wait {
        let number: UInt64
        let check: Check
        /// Nil if cancellation does not end the wait.
        let cancel: Resume?
    }

    var waits: [Wait] = []
    private var numbers: UInt64 = 0

    mutating func newNumber() -> UInt64 {
        numbers += 1
        return numbers
    }

    mutating func remove(_ number: UInt64) -> Wait? {
        waits.firstIndex { $0.number == number }.map { waits.remove(at: $0) }
    }

    /// Removes the waits whose conditions hold. A condition may change the value, so that an earlier one holds then.
    mutating func removeEnded() -> [Resume] {
        var ended: [Resume] = []
        var count = -1
        while !waits.isEmpty, ended.count != count {
            count = ended.count
            waits.removeAll { wait in
                guard let resume = wait.check() else { return false }
                ended.append(resume)
                return true
            }
        }
        return ended
    }
}
