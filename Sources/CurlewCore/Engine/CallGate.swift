// SPDX-License-Identifier: MIT

/// Counts the running calls of a client and of its derived clients, and refuses new calls once the client is draining.
final class CallGate: Sendable {
    private struct State: Sendable {
        var count = 0
        var isClosed = false
        var idle: [SharedResult<Void>] = []
    }

    private let state = Locked(State())

    /// Counts a call as running until `leave()`. Throws `.refused(by: .shutdown)` once the client is draining.
    func enter() throws(NetworkError) {
        let isOpen = state.withLock { state in
            if !state.isClosed { state.count += 1 }
            return !state.isClosed
        }
        guard !isOpen else { return }
        throw NetworkError(
            .refused(by: .shutdown), detail: "The client is draining and starts no new calls.",
            hint: "Send the call before drain(for:), or use another client.")
    }

    func leave() {
        let idle = state.withLock { state -> [SharedResult<Void>] in
            state.count -= 1
            guard state.count == 0 else { return [] }
            defer { state.idle = [] }
            return state.idle
        }
        for waiter in idle { waiter.finish(.success(())) }
    }

    /// Refuses new calls and waits for the running ones. Returns false if calls are still running at the deadline or
    /// when the task is cancelled.
    func drain(until deadline: SystemTime.Deadline, on time: any TimeSource) async -> Bool {
        let idle = SharedResult<Void>()
        let isIdle = state.withLock { state in
            state.isClosed = true
            if state.count > 0 { state.idle.append(idle) }
            return state.count == 0
        }
        if isIdle { return true }
        return (try? await idle.wait(until: deadline, on: time)) != nil
    }
}
