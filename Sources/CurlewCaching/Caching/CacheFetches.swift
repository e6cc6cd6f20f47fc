// SPDX-License-Identifier: MIT

import CurlewCore

/// The work in progress in one cache: background refreshes, and validations that other calls wait for.
final class CacheFetches: Sendable {
    private struct State: Sendable {
        var refreshing: Set<StoredResponse.ID> = []
        var validating: [StoredResponse.ID: Validation] = [:]
    }

    private let state = Locked(State())

    /// The state of a background refresh of an entry.
    enum Refresh: Sendable {
        /// Begun by this caller, which ends it with `endRefresh`.
        case begun
        /// Another call is refreshing the entry.
        case underWay
        /// Not begun, because the limit of concurrent refreshes is reached.
        case tooMany
    }

    /// Begins to refresh an entry, if no other call does and fewer than `limit` others are being refreshed.
    func beginRefresh(_ id: StoredResponse.ID, limit: Int) -> Refresh {
        state.withLock { state in
            if state.refreshing.contains(id) { return .underWay }
            guard state.refreshing.count < limit else { return .tooMany }
            state.refreshing.insert(id)
            return .begun
        }
    }

    /// Ends a refresh begun by `beginRefresh`.
    func endRefresh(_ id: StoredResponse.ID) {
        state.withLock { _ = $0.refreshing.remove(id) }
    }

    /// The result of a validation for the calls that wait for it.
    enum Outcome: Sendable {
        /// The server has confirmed that the entry is valid.
        case good(StoredResponse)
        /// The server has failed.
        case failed(CacheDecision.Failure)
        /// Neither: the waiting calls have to consult the store again.
        case unknown
    }

    typealias Validation = SharedResult<Outcome>

    /// Returns the validation of the entry that is in progress, or a new one, which the first call ends with `end`.
    func beginValidation(_ id: StoredResponse.ID) -> (Validation, isFirst: Bool) {
        state.withLock { state in
            if let validation = state.validating[id] { return (validation, false) }
            let validation = Validation()
            state.validating[id] = validation
            return (validation, true)
        }
    }

    /// Ends a validation. The first outcome counts.
    func end(_ validation: Validation, of id: StoredResponse.ID, with outcome: Outcome) {
        state.withLock { state in
            if state.validating[id] === validation { state.validating[id] = nil }
        }
        validation.finish(.success(outcome))
    }

    fileprivate var isRefreshing: Bool { state.withLock { !$0.refreshing.isEmpty } }
}

extension CacheInterceptor {
    /// Returns when no background refresh is in progress. For tests: it waits until the caller is cancelled, and then
    /// throws `CancellationError`.
    package func settle() async throws {
        while traffic.isRefreshing {
            try Task.checkCancellation()
            await Task.yield()
        }
    }
}
