// SPDX-License-Identifier: MIT

/// Asks again, without holding a thread, until `condition` is true; false if it is not within `limit`.
///
/// For states of the system that nothing announces: files, how far a peer has got.
func eventually(within limit: Duration = .seconds(30), _ condition: () -> Bool) async -> Bool {
    let end = ContinuousClock.now + limit
    while !condition() {
        if ContinuousClock.now > end { return false }
        try? await SystemTime().sleep(for: .milliseconds(2))
    }
    return true
}

/// How `task` ended, as a reason; nil if it gave a value.
func reason<Value: Sendable>(of task: Task<Value, any Error>) async -> NetworkError.Reason? {
    do {
        _ = try await task.value
        return nil
    } catch {
        return NetworkError(error).reason
    }
}
