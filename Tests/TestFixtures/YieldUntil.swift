// SPDX-License-Identifier: MIT

/// Lets other tasks run until `condition` holds, for states that nothing announces.
///
/// Throws `CancellationError` when the task is cancelled, as the suite's time limit does: a test that waits in vain
/// fails. A loop that only yields would keep the whole run from ending.
package func yieldUntil(_ condition: () async -> Bool) async throws {
    while await !condition() {
        try Task.checkCancellation()
        await Task.yield()
    }
}
