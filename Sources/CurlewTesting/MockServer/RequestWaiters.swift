// SPDX-License-Identifier: MIT

import CurlewCore

/// The tasks that wait for a number of requests. Each task is resumed exactly once.
final class RequestWaiters: Sendable {
    private let state = Locked(State())

    private struct State {
        var waiting: [Int: Waiter] = [:]
        var nextID = 0
        var isStopped = false
    }

    private struct Waiter {
        let count: Int
        let continuation: CheckedContinuation<Void, any Error>
        var timer: Task<Void, Never>?
    }

    /// Waits until the number of requests is at least `count`. `advance(to:)` reports the number; `current` returns it
    /// directly after the registration.
    ///
    /// - `late`: returns the error that is thrown after the timeout.
    func wait(
        for count: Int, timeout: Duration, current: @Sendable () -> Int, late: @escaping @Sendable () -> any Error
    ) async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isStopped = state.withLock { state in
                    state.waiting[id] = Waiter(count: count, continuation: continuation)
                    return state.isStopped
                }
                // Events before the registration are detected here; later events find the registered waiter.
                if isStopped { return finish(id, .failure(Self.stopped)) }
                if Task.isCancelled { return finish(id, .failure(CancellationError())) }
                if current() >= count { return finish(id, .success(())) }
                startTimer(id, timeout, late)
            }
        } onCancel: {
            finish(id, .failure(CancellationError()))
        }
    }

    func advance(to count: Int) {
        let reached = state.withLock { state in state.waiting.filter { $0.value.count <= count }.map(\.key) }
        for id in reached { finish(id, .success(())) }
    }

    /// Ends the current waits and all later ones with an error.
    func stop() {
        let all = state.withLock { state in
            state.isStopped = true
            return Array(state.waiting.keys)
        }
        for id in all { finish(id, .failure(Self.stopped)) }
    }

    private func startTimer(_ id: Int, _ timeout: Duration, _ late: @escaping @Sendable () -> any Error) {
        let timer = Task { [self] in
            guard (try? await SystemTime().sleep(for: timeout)) != nil else { return }
            finish(id, .failure(late()))
        }
        let isListed = state.withLock { state in
            guard state.waiting[id] != nil else { return false }
            state.waiting[id]?.timer = timer
            return true
        }
        if !isListed { timer.cancel() }
    }

    private func finish(_ id: Int, _ result: Result<Void, any Error>) {
        guard let waiter = state.withLock({ $0.waiting.removeValue(forKey: id) }) else { return }
        waiter.timer?.cancel()
        waiter.continuation.resume(with: result)
    }

    private static let stopped = MockServerError("the mock server was stopped")
}
