// SPDX-License-Identifier: MIT

/// How `task` ended, as a reason; nil if it gave a value.
func reason<Value: Sendable>(of task: Task<Value, any Error>) async -> NetworkError.Reason? {
    do {
        _ = try await task.value
        return nil
    } catch {
        return NetworkError(error).reason
    }
}
