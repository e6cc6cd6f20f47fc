// SPDX-License-Identifier: MIT

/// What is under way in one cache: refreshes in the background.
final class CacheTraffic: Sendable {
    private struct State: Sendable {
        var refreshing: Set<CacheEntryID> = []
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())

    /// Whether an entry is refreshed.
    enum Refresh: Sendable {
        /// By the one who asked, who ends it with `endRefresh`.
        case begun
        /// By another call.
        case underWay
        /// Not now: as many others are as may be.
        case tooMany
    }

    /// Begins to refresh an entry, if no call does so yet and fewer than `limit` others are refreshed.
    func beginRefresh(_ id: CacheEntryID, limit: Int) -> Refresh {
        state.withLock { state in
            if state.refreshing.contains(id) { return .underWay }
            guard state.refreshing.count < limit else { return .tooMany }
            state.refreshing.insert(id)
            return .begun
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
