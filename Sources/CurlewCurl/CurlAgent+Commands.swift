// SPDX-License-Identifier: MIT

#if os(Linux)
import CurlewCore
import CurlewHTTP

/// What callers and readers ask of the agent, from any thread.
extension CurlAgent {
    /// Hands a transfer over. Its continuation is resumed exactly once, whatever happens.
    func start(_ transfer: Transfer) {
        let refusal = queue.withLock { state -> NetworkError? in
            if state.isStopped { return Self.shutdownError }
            if state.isStalled { return stallError(transfer) }
            if transfer.isCancelled { return NetworkError(.cancelled) }
            transfer.isSubmitted = true
            if !state.isRunning {
                guard startThread() else {
                    return NetworkError(
                        .configuration, detail: Self.noDescriptor.text, hint: Self.noDescriptor.hint)
                }
                state.isRunning = true
            }
            state.commands.append(.start(transfer))
            state.enter(transfer)
            queue.noteLoad(state)
            if !state.isWatched { state.isWatched = startWatchdog() }
            return nil
        }
        if let refusal { transfer.continuation?.resume(throwing: refusal) }
    }

    /// Ends a transfer wherever it is. Harmless when it has ended, or has not begun yet.
    func cancel(_ transfer: Transfer) {
        guard home.isHere else { return }
        let isGone = queue.withLock { state -> Bool in
            transfer.isCancelled = true
            if transfer.isSubmitted, state.isRunning { state.commands.append(.cancel(transfer)) }
            return transfer.isSubmitted && !state.isRunning
        }
        if isGone { cancelTaken(transfer) }
    }

    /// Cancels what another agent took from this one, whose thread has ended: in a drain they end one by one.
    func cancelTaken(_ transfer: Transfer) {
        if let taker = lines.taker(of: transfer), taker !== self { taker.cancel(transfer) }
    }

    /// A transfer that waited here is another agent's from now on. Called by that one.
    func forget(_ transfer: Transfer) {
        queue.withLock { state in
            state.leave(transfer)
            queue.noteLoad(state)
        }
    }

    /// A transfer that waited elsewhere is this agent's from now on.
    func adopt(_ transfer: Transfer) {
        queue.withLock { state in
            state.enter(transfer)
            queue.noteLoad(state)
            if !state.isWatched { state.isWatched = startWatchdog() }
        }
    }

    /// Somebody waits for a place at `origin`, where this agent has one.
    func look(at origin: Origin) {
        guard home.isHere else { return }
        queue.withLock { state in
            if !state.isRunning {
                guard !state.isStopped, startThread() else { return }
                state.isRunning = true
            }
            state.commands.append(.look(origin))
        }
    }

    /// Lets a transfer go on that was held because its reader or its producer was behind.
    func resume(_ transfer: Transfer) {
        guard home.isHere else { return }
        queue.withLock { state in
            if state.isRunning { state.commands.append(.resume(transfer)) }
        }
    }

    /// Refuses new work, and ends everything that has not ended by `moment`. `ending` is called when the thread has ended.
    func stop(by moment: Int64 = 0, _ ending: (@Sendable () -> Void)? = nil) {
        guard home.isHere else {
            ending?()
            return
        }
        let hasEnded = queue.withLock { state -> Bool in
            state.isStopped = true
            guard state.isRunning else { return true }
            if let ending { state.endings.append(ending) }
            state.commands.append(.stop(by: moment))
            return false
        }
        if hasEnded { ending?() }
    }
}
#endif
