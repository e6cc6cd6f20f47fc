// SPDX-License-Identifier: MIT

import CurlewCore

/// A lock together with its value, and the tasks that wait for a condition on the value.
final class Monitor<Value: Sendable>: Sendable {
    private struct State: Sendable {
        var value: Value
        /// The number of updates.
        var version: UInt64 = 0
        var waiting: [UInt64: UnsafeContinuation<Void, Never>] = [:]
        var nextWaiter: UInt64 = 0
    }

    private let state: Locked<State>

    init(_ value: Value) {
        state = Locked(State(value: value))
    }

    /// Reads the value.
    func read<Result: Sendable>(_ body: (Value) -> Result) -> Result {
        state.withLock { body($0.value) }
    }

    /// Changes the value. The waiting tasks check their conditions again.
    func update<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        let (result, waiting) = state.withLock { state in
            let result = body(&state.value)
            state.version &+= 1
            defer { state.waiting.removeAll(keepingCapacity: true) }
            return (result, Array(state.waiting.values))
        }
        for waiter in waiting { waiter.resume() }
        return result
    }

    /// Waits until `condition`, which may change the value, returns a result. Returns nil if the task is cancelled.
    func wait<Result: Sendable>(until condition: (inout Value) -> Result?) async -> Result? {
        while !Task.isCancelled {
            let (result, version) = state.withLock { (condition(&$0.value), $0.version) }
            if let result { return result }
            await change(after: version)
        }
        return nil
    }

    /// Waits for an update after `version`, or until the task is cancelled.
    private func change(after version: UInt64) async {
        let number = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let waits = state.withLock { state in
                    guard state.version == version, !Task.isCancelled else { return false }
                    state.waiting[number] = continuation
                    return true
                }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
        }
    }
}
