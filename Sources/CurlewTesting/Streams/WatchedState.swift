// SPDX-License-Identifier: MIT

import CurlewCore

/// A value under a lock. Tasks can wait until it satisfies a condition.
final class WatchedState<Value: Sendable>: Sendable {
    private struct Content {
        var value: Value
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let content: Locked<Content>

    init(_ value: Value) {
        content = Locked(Content(value: value))
    }

    func read<Result: Sendable>(_ body: (Value) -> Result) -> Result {
        content.withLock { body($0.value) }
    }

    /// Changes the value. Afterwards the waiting tasks check it again.
    @discardableResult
    func change<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        let (result, waiting) = content.withLock { content in
            let result = body(&content.value)
            defer { content.waiting = [] }
            return (result, content.waiting)
        }
        for task in waiting { task.resume() }
        return result
    }

    /// Waits until the value satisfies `condition`. Throws `CancellationError` if the task is cancelled first.
    func wait(until condition: @Sendable (Value) -> Bool) async throws {
        while !read(condition) {
            try Task.checkCancellation()
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let goesOn = content.withLock { content in
                        if condition(content.value) || Task.isCancelled { return true }
                        content.waiting.append(continuation)
                        return false
                    }
                    if goesOn { continuation.resume() }
                }
            } onCancel: {
                change { _ in }
            }
        }
    }
}
