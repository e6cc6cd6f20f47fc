// SPDX-License-Identifier: MIT

/// What is under way in one cache: refreshes in the background, and validations that other calls wait for.
final class CacheTraffic: Sendable {
    private struct State: Sendable {
        var refreshing: Set<CacheEntryID> = []
        var validating: [CacheEntryID: Validation] = [:]
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
        state.withLock { _ = $0.refreshing.remove(id) }
    }

    /// What a validation has come to for the calls that wait for it.
    enum Outcome: Sendable {
        /// The server has called the entry good.
        case good(StoredResponse)
        /// The server has failed.
        case failed(CacheDecision.Failure)
        /// Neither: the waiting calls have to look again.
        case unknown
    }

    typealias Validation = OneShot<Outcome>

    /// The validation of an entry that is under way, or a new one, which the first call ends with `end`.
    func beginValidation(_ id: CacheEntryID) -> (Validation, isFirst: Bool) {
        state.withLock { state in
            if let validation = state.validating[id] { return (validation, false) }
            let validation = Validation()
            state.validating[id] = validation
            return (validation, true)
        }
    }

    /// Ends a validation; the first word counts.
    func end(_ validation: Validation, of id: CacheEntryID, with outcome: Outcome) {
        state.withLock { state in
            if state.validating[id] === validation { state.validating[id] = nil }
        }
        validation.finish(.success(outcome))
    }

    fileprivate var isRefreshing: Bool { state.withLock { !$0.refreshing.isEmpty } }
}

extension CacheInterceptor {
    /// Returns when nothing is refreshed in the background. For tests: it waits until the caller is cancelled, and then
    /// throws `CancellationError`.
    package func settle() async throws {
        while traffic.isRefreshing {
            try Task.checkCancellation()
            await Task.yield()
        }
    }
}
