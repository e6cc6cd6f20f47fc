// SPDX-License-Identifier: MIT

/// The calls of a client and of those derived from it: how many are under way, and whether new ones may begin.
final class CallGate: Sendable {
    private struct State: Sendable {
        var count = 0
        var isClosed = false
        var idle: [OneShot<Void>] = []
    }

    private let state = Locked(State())

    /// Begins a call, which is ended by `leave()`. Throws `.refused(by: .shutdown)` once the client is draining.
    func enter() throws(NetworkError) {
        let isOpen = state.withLock { state in
            if !state.isClosed { state.count += 1 }
            return !state.isClosed
        }
        guard !isOpen else { return }
        throw NetworkError(
            .refused(by: .shutdown), detail: "The client is draining: it begins no more calls.",
            hint: "Make the call before drain(for:), or with another client.")
    }

    func leave() {
        let idle = state.withLock { state -> [OneShot<Void>] in
            state.count -= 1
            guard state.count == 0 else { return [] }
            defer { state.idle = [] }
            return state.idle
        }
        for waiter in idle { waiter.finish(.success(())) }
    }

    /// Lets no more calls begin, and waits for those under way. False if some are when the time is over.
    func drain(until deadline: Deadline, on time: any TimeSource) async -> Bool {
        let idle = OneShot<Void>()
        let isIdle = state.withLock { state in
            state.isClosed = true
            if state.count > 0 { state.idle.append(idle) }
            return state.count == 0
        }
        if isIdle { return true }
        return (try? await idle.wait(until: deadline, on: time)) != nil
    }
}
