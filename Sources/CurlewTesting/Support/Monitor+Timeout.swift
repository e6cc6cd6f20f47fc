// SPDX-License-Identifier: MIT

import CurlewCore

extension Monitor {
    /// Waits until `condition` returns a result, for at most `timeout` in real time. Returns nil after the timeout.
    /// Throws `CancellationError` as soon as the task is cancelled.
    func wait<Result: Sendable>(
        for timeout: Duration, until condition: @escaping @Sendable (inout Value) -> Result?
    ) async throws -> Result? {
        if let result = withLock({ condition(&$0) }) { return result }
        let result = try await withThrowingTaskGroup(of: Result?.self) { group in
            defer { group.cancelAll() }
            group.addTask { await self.wait(until: condition) }
            group.addTask {
                try await SystemTime().sleep(for: timeout)
                return nil
            }
            return try await group.next() ?? nil
        }
        if result == nil { try Task.checkCancellation() }
        return result
    }
}
