// SPDX-License-Identifier: MIT

import CurlewCore

/// The state that the copies of a stream share with the connecting iterator: the public state, and the interruption of
/// the iterator's wait.
final class EventStreamCore: Sendable {
    typealias State = EventStream.State

    private struct Shared: Sendable {
        var state = State.idle
        var lastEventID: String
        var isClaimed = false
        var isRestarting = false
        /// Ends what the iterator waits for: a connection, a response or a pause.
        var interrupt: (@Sendable () -> Void)?
        var watchers: [Int: AsyncStream<State>.Continuation] = [:]
        var watcherCount = 0
    }

    let opening: EventOpening
    private let shared: Locked<Shared>

    init(_ opening: EventOpening) {
        self.opening = opening
        shared = Locked(Shared(lastEventID: opening.options.lastEventID))
    }

    deinit {
        for watcher in shared.withLock({ $0.watchers.values }) { watcher.finish() }
    }

    // MARK: The iterator

    /// Begins connecting. Returns false if another iterator has begun and not ended.
    func claim() -> Bool {
        shared.withLock { shared in
            defer { shared.isClaimed = true }
            return !shared.isClaimed
        }
    }

    /// Ends connecting and the iterator's wait.
    func release() {
        let interrupt = shared.withLock { shared in
            shared.isClaimed = false
            shared.isRestarting = false
            defer { shared.interrupt = nil }
            return shared.interrupt
        }
        interrupt?()
        change(to: .closed)
    }

    /// Interrupts what the iterator waits for. Has no effect if none has begun.
    func restart() {
        let interrupt = shared.withLock { shared -> (@Sendable () -> Void)? in
            guard shared.isClaimed else { return nil }
            shared.isRestarting = true
            return shared.interrupt
        }
        interrupt?()
    }

    /// Returns whether a restart was requested since the last call.
    func takeRestart() -> Bool {
        shared.withLock { shared in
            defer { shared.isRestarting = false }
            return shared.isRestarting
        }
    }

    /// Sets what `restart` and `release` interrupt. Interrupts it at once if a restart was requested before.
    func interruptible(by interrupt: (@Sendable () -> Void)?) {
        let isLate = shared.withLock { shared in
            shared.interrupt = interrupt
            return shared.isRestarting
        }
        if isLate { interrupt?() }
    }

    /// Runs `work` in a task that `restart`, `release` and a cancellation of the caller cancel.
    func run<Value: Sendable>(
        _ work: @escaping @Sendable () async throws(NetworkError) -> Value
    ) async throws(NetworkError) -> Value {
        let task = Task { () async -> Result<Value, NetworkError> in
            do throws(NetworkError) {
                return .success(try await work())
            } catch {
                return .failure(error)
            }
        }
        interruptible { task.cancel() }
        defer { interruptible(by: nil) }
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        return try result.get()
    }

    /// Waits for `duration`. A restart ends the wait early. Throws `.cancelled` if the task is cancelled.
    func pause(for duration: Duration, on time: any TimeSource) async throws(NetworkError) {
        do throws(NetworkError) {
            try await run { () throws(NetworkError) in
                do {
                    try await time.sleep(for: duration)
                } catch {
                    throw NetworkError(error)
                }
            }
        } catch {
            guard !Task.isCancelled, takeRestart() else { throw error }
        }
    }

    // MARK: The users

    var state: State { shared.withLock { $0.state } }

    var lastEventID: String {
        get { shared.withLock { $0.lastEventID } }
        set { shared.withLock { $0.lastEventID = newValue } }
    }

    func change(to state: State) {
        // Under the lock, so that all watchers receive the states in the same order.
        shared.withLock { shared in
            guard shared.state != state else { return }
            shared.state = state
            for watcher in shared.watchers.values { watcher.yield(state) }
        }
    }

    func states() -> AsyncStream<State> {
        let (states, watcher) = AsyncStream.makeStream(of: State.self, bufferingPolicy: .bufferingNewest(16))
        let number = shared.withLock { shared in
            shared.watcherCount += 1
            shared.watchers[shared.watcherCount] = watcher
            watcher.yield(shared.state)
            return shared.watcherCount
        }
        watcher.onTermination = { [weak self] _ in
            _ = self?.shared.withLock { $0.watchers.removeValue(forKey: number) }
        }
        return states
    }
}
