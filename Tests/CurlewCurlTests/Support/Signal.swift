// SPDX-License-Identifier: MIT

import CurlewCore
import Foundation

/// Something that happens once: tasks and threads wait for it, anybody sets it off.
final class Signal: Sendable {
    private struct State {
        var hasFired = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())
    private let semaphore = DispatchSemaphore(value: 0)

    func fire() {
        let waiters = state.withLock { state in
            state.hasFired = true
            defer { state.waiters = [] }
            return state.waiters
        }
        waiters.forEach { $0.resume() }
        semaphore.signal()
    }

    var hasFired: Bool { state.withLock { $0.hasFired } }

    /// For tasks. The suite's time limit bounds it.
    func wait() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if !state.hasFired { state.waiters.append(continuation) }
                return state.hasFired
            }
            if isOver { continuation.resume() }
        }
    }

    /// For threads of servers; at most 20 s.
    func block() {
        guard semaphore.wait(timeout: .now() + 20) == .success else { return }
        semaphore.signal()
    }
}

/// Asks again, without holding a thread, until `condition` is true; false if it is not within `limit`.
///
/// For states of the system that nothing announces: threads, descriptors, how far a peer has got.
func eventually(within limit: Duration = .seconds(10), _ condition: () -> Bool) async -> Bool {
    let end = ContinuousClock.now + limit
    while !condition() {
        if ContinuousClock.now > end { return false }
        try? await SystemTime().sleep(for: .milliseconds(2))
    }
    return true
}
