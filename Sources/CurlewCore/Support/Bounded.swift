// SPDX-License-Identifier: MIT

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
