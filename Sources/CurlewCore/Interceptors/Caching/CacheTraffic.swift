// SPDX-License-Identifier: MIT

/// What is under way in one cache: fetches that an invalidation may overtake, and refreshes in the background.
final class CacheTraffic: Sendable {
    private struct State: Sendable {
        var flights: [String: [ObjectIdentifier: Flag]] = [:]
        var refreshing: Set<CacheEntryID> = []
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    /// Set once, when the answer on its way is older than a change of its URL.
    private final class Flag: Sendable {
        let isDoomed = Locked(false)
    }

    /// A fetch that is under way as long as somebody holds it.
    final class Flight: Sendable {
        private let traffic: CacheTraffic
        private let target: String
        private let flag = Flag()

        fileprivate init(_ traffic: CacheTraffic, _ target: String) {
            self.traffic = traffic
            self.target = target
            let (flag, id) = (flag, ObjectIdentifier(flag))
            traffic.state.withLock { $0.flights[target, default: [:]][id] = flag }
        }

        deinit {
            let (target, id) = (target, ObjectIdentifier(flag))
            traffic.state.withLock { state in
                state.flights[target]?[id] = nil
                if state.flights[target]?.isEmpty == true { state.flights[target] = nil }
            }
        }

        /// True once what it brings must not be stored.
        var isDoomed: Bool { flag.isDoomed.withLock { $0 } }
    }

    private let state = Locked(State())

    /// Notes a fetch of a URL, before it is sent.
    func begin(_ target: String) -> Flight { Flight(self, target) }

    /// Sees to it that what is on its way for these URLs is not stored.
    func doom(_ targets: Set<String>) {
        let flags = state.withLock { state in targets.flatMap { Array((state.flights[$0] ?? [:]).values) } }
        for flag in flags { flag.isDoomed.withLock { $0 = true } }
    }

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
