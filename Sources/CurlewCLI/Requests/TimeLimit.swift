// SPDX-License-Identifier: MIT

import CurlewCore

/// The limit of `--max-time` for uploads and streams, to which the client's limit for one call does not apply.
enum TimeLimit {
    /// Runs `work`, and cancels it when the time is over. Throws `.timedOut` then.
    static func run<Value: Sendable>(
        _ limit: Duration?, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let limit else { return try await work() }
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await work() }
            group.addTask {
                try await Task.sleep(for: limit)
                return nil
            }
            defer { group.cancelAll() }
            if let first = try await group.next(), let value = first { return value }
            throw NetworkError(
                .timedOut(.total), detail: "The time of --max-time is over.", hint: "Give it more time, or none.")
        }
    }
}
