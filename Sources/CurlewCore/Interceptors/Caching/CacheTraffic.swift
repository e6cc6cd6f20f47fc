// SPDX-License-Identifier: MIT

/// What is under way in one cache: refreshes in the background.
final class CacheTraffic: Sendable {
    private struct State: Sendable {
        var refreshing: Set<CacheEntryID> = []
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())

    /// True if an entry may be refreshed now: nobody does so yet, and fewer than `limit` others are.
    func beginRefresh(_ id: CacheEntryID, limit: Int) -> Bool {
        state.withLock { state in
            guard state.refreshing.count < limit else { return false }
            return state.refreshing.insert(id).inserted
        }
    }

    /// Ends what `beginRefresh` began.
    func endRefresh(_ id: CacheEntryID) {
        let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.refreshing.remove(id)
            guard state.refreshing.isEmpty else { return [] }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Returns when nothing is refreshed in the background. For tests.
    func settle() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if !state.refreshing.isEmpty { state.waiters.append(continuation) }
                return state.refreshing.isEmpty
            }
            if isIdle { continuation.resume() }
        }
    }
}

extension CacheInterceptor {
    /// Returns when nothing is refreshed in the background. For tests: it waits without limit.
    package func settle() async { await traffic.settle() }
}
