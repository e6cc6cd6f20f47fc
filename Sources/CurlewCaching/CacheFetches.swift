// SPDX-License-Identifier: MIT

import CurlewCore

/// The work in progress in one cache: background revalidations, and validations that other calls wait for.
final class CacheFetches: Sendable {
    private struct State: Sendable {
        var refreshing: Set<HTTPCache.Entry.ID> = []
        var validating: [HTTPCache.Entry.ID: Validation] = [:]
    }

    private let state = Locked(State())

    /// The result of an attempt to begin a background revalidation of an entry.
    enum Refresh: Sendable {
        /// The revalidation may begin. The caller performs it, and then calls `endRefresh`.
        case begun
        /// Another call is already revalidating the entry in the background.
        case underWay
        /// The limit of concurrent background revalidations is reached.
        case tooMany
    }

    /// Begins a background revalidation of an entry, if none is in progress and fewer than `limit` other entries are
    /// being revalidated.
    func beginRefresh(_ id: HTTPCache.Entry.ID, limit: Int) -> Refresh {
        state.withLock { state in
            if state.refreshing.contains(id) { return .underWay }
            guard state.refreshing.count < limit else { return .tooMany }
            state.refreshing.insert(id)
            return .begun
        }
    }

    /// Ends a background revalidation that `beginRefresh` has begun.
    func endRefresh(_ id: HTTPCache.Entry.ID) {
        state.withLock { _ = $0.refreshing.remove(id) }
    }

    /// The result of a validation, for the calls that wait for it.
    enum Outcome: Sendable {
        /// The server has confirmed that the entry is valid. The value is the updated entry.
        case good(HTTPCache.Entry)
        /// The server has failed or could not be reached.
        case failed(CacheDecision.Failure)
        /// The validation ended without either result. The waiting calls look up the entry again.
        case unknown
    }

    typealias Validation = SharedResult<Outcome>

    /// Returns the validation in progress for the entry, or a new one. The call that receives the new one ends it with
    /// `end`.
    func beginValidation(_ id: HTTPCache.Entry.ID) -> (Validation, isFirst: Bool) {
        state.withLock { state in
            if let validation = state.validating[id] { return (validation, false) }
            let validation = Validation()
            state.validating[id] = validation
            return (validation, true)
        }
    }

    /// Ends a validation with an outcome for the calls that wait for it. Only the first outcome of a validation counts.
    func end(_ validation: Validation, of id: HTTPCache.Entry.ID, with outcome: Outcome) {
        state.withLock { state in
            if state.validating[id] === validation { state.validating[id] = nil }
        }
        validation.finish(.success(outcome))
    }

    fileprivate var isRefreshing: Bool { state.withLock { !$0.refreshing.isEmpty } }
}

extension CacheInterceptor {
    /// Waits until no background revalidation is in progress. For tests. Throws `CancellationError` if the caller is
    /// cancelled first.
    package func settle() async throws {
        while traffic.isRefreshing {
            try Task.checkCancellation()
            await Task.yield()
        }
    }
}
