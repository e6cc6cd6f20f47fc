// SPDX-License-Identifier: MIT

import CurlewCore

/// Work that several callers on the main actor wait for, each of which may leave.
@MainActor
final class SharedWork {
    private let done = OneShot<Void>()
    private var task: Task<Void, Never>?
    private var waiters = 0

    func start(_ work: @escaping @MainActor () async -> Void) {
        task = Task { await work() }
    }

    /// Waits until nothing is under way, or until the caller is cancelled: who waited for work that was overtaken waits
    /// for what overtook it, and the last one that leaves ends the work.
    static func settle(
        _ work: SharedWork, current: @MainActor () -> SharedWork?, cancel: @MainActor () -> Void
    ) async {
        var awaited = work
        while await awaited.wait() {
            guard let newer = current(), newer !== awaited else { return }
            awaited = newer
        }
        if awaited.waiters == 0, current() === awaited { cancel() }
    }

    /// True when the work has ended; false when the caller is cancelled before.
    private func wait() async -> Bool {
        waiters += 1
        defer { waiters -= 1 }
        do {
            try await done.wait()
            return true
        } catch {
            return false
        }
    }

    /// Ends the work, if it goes on, and the waiting.
    func end() {
        task?.cancel()
        done.finish(.success(()))
    }

    deinit { task?.cancel() }
}
