// SPDX-License-Identifier: MIT

/// Does work that may hang, and waits for it until `deadline` at most. The work is not cancelled: it goes on by itself.
///
/// Throws `DeadlinePassed`, `CancellationError` as soon as the caller is cancelled, and what `work` throws.
func bounded<Value: Sendable>(
    until deadline: Deadline, on time: any TimeSource, _ work: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    let outcome = OneShot<Value>()
    Task {
        do {
            outcome.finish(.success(try await work()))
        } catch {
            outcome.finish(.failure(error))
        }
    }
    return try await outcome.wait(until: deadline, on: time)
}
