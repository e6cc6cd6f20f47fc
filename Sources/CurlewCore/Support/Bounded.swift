// SPDX-License-Identifier: MIT

/// Performs work that may hang, and waits for it until `deadline` at most. The work is not cancelled and continues in
/// the background.
///
/// Throws `DeadlinePassed`, `CancellationError` as soon as the caller is cancelled, and the errors of `work`.
package func bounded<Value: Sendable>(
    until deadline: Deadline, on time: any TimeSource, _ work: @escaping @Sendable () async throws -> Value
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
