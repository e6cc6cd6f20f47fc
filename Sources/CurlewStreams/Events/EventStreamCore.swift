// SPDX-License-Identifier: MIT

import CurlewCore

/// The state that the copies of a stream and its iterator share.
final class EventStreamCore: Sendable {
    let opening: EventOpening
    private let shared: Locked<Shared>

    private struct Shared: Sendable {
        var state = EventStream.State.idle
        var lastEventID: String
        var isIterated = false
        var isRestarting = false
        /// Ends what the iterator waits for: a connection, a response or a pause.
        var interrupt: (@Sendable () -> Void)?
        var watchers: [Int: AsyncStream<EventStream.State>.Continuation] = [:]
        var watcherCount = 0
    }

    init(_ opening: EventOpening) {
        self.opening = opening
        shared = Locked(Shared(lastEventID: opening.options.lastEventID))
    }

    deinit {
        for watcher in shared.withLock({ $0.watchers.values }) { watcher.finish() }
    }

    var state: EventStream.State { shared.withLock { $0.state } }

    var lastEventID: String {
        get { shared.withLock { $0.lastEventID } }
        set { shared.withLock { $0.lastEventID = newValue } }
    }

    /// Begins an iteration. Returns false if there is one already.
    func claim() -> Bool {
        shared.withLock { shared in
            defer { shared.isIterated = true }
            return !shared.isIterated
        }
    }

    /// Ends the iteration and what it waits for.
    func release() {
        let interrupt = shared.withLock { shared in
            shared.isIterated = false
            shared.isRestarting = false
            defer { shared.interrupt = nil }
            return shared.interrupt
        }
        interrupt?()
        change(to: .closed)
    }

    func restart() {
        let interrupt = shared.withLock { shared -> (@Sendable () -> Void)? in
            guard shared.isIterated else { return nil }
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

    func change(to state: EventStream.State) {
        // Under the lock, so that all watchers receive the states in the same order.
        shared.withLock { shared in
            guard shared.state != state else { return }
            shared.state = state
            for watcher in shared.watchers.values { watcher.yield(state) }
        }
    }

    func states() -> AsyncStream<EventStream.State> {
        let (states, watcher) = AsyncStream.makeStream(
            of: EventStream.State.self, bufferingPolicy: .bufferingNewest(16))
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
