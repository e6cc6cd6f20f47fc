// SPDX-License-Identifier: MIT

import CurlewCore

/// One refresh of the tokens of a store: waits until no other process refreshes them, requests new tokens, stores them,
/// and then ends the waits of the calls.
///
/// Processes that share the tokens refresh one at a time, and only tokens that no other process has refreshed.
final class RefreshFlight: Sendable {
    private let id: UInt64
    private let renewal: TokenStore.Renewal
    /// Set at the end of the refresh, for the calls that wait for it.
    let done = SharedResult<Void>()

    /// The store whose refresh runs in the current task; nil in all other tasks.
    @TaskLocal static var store: ObjectIdentifier?

    init(_ id: UInt64, of tokens: Tokens?, in store: TokenStore, by renewal: TokenStore.Renewal) {
        self.id = id
        self.renewal = renewal
        // Detached, because the cancellation of a caller must not end the refresh: the server may already have
        // exchanged the refresh token.
        Task.detached { await self.run(tokens, store) }
    }

    /// Ends the waits of the calls, with `failure` unless it is nil.
    func end(_ failure: NetworkError? = nil, in store: isolated TokenStore) {
        if store.flight === self { store.flight = nil }
        done.finish(failure.map { .failure($0) } ?? .success(()))
    }

    private func run(_ tokens: Tokens?, _ store: isolated TokenStore) async {
        do {
            let lock = try await lock(store.persistence, store.policy.timeLimit, on: store.time)
            defer { lock?.release() }
            var tokens = tokens
            guard await mustRequest(&tokens, store) else { return }
            await keep(await request(tokens, store), store)
        } catch {
            await keep(.failure(error), store)
        }
    }

    /// Waits until no other process refreshes the tokens. Returns nil if locks are not available, and for a storage of
    /// one process.
    @concurrent
    private func lock(
        _ persistence: (any TokenStore.Persistence)?, _ limit: Duration, on time: any TimeSource
    ) async throws -> FileLock? {
        guard let shared = persistence as? any SharedTokens else { return nil }
        do {
            return try await shared.lockForRenewal(until: SystemTime.Deadline(limit, after: time.now), on: time)
        } catch is DeadlinePassed {
            throw NetworkError(
                .storage, detail: "Another process has been refreshing the tokens for \(limit.brief).",
                hint: "Check whether that process has stopped. The lock is released when it ends.")
        }
    }

    /// Returns whether this process, which holds the lock, must refresh the tokens. It need not if another process has
    /// refreshed them, or has signed out or in again.
    ///
    /// - `tokens`: the tokens to refresh. They become the stored ones.
    private func mustRequest(_ tokens: inout Tokens?, _ store: isolated TokenStore) async -> Bool {
        guard let shared = store.persistence as? any SharedTokens else { return true }
        // Before the comparison, the file must contain the pending changes of this process.
        if store.isSaving || store.nextSave != nil { try? await store.save() }
        // If the file cannot be read, the tokens of this process are used.
        guard store.problem == nil, case .success(let found) = await TokenStore.stored(in: shared) else { return true }
        guard store.state.isUnderWay(id) else { return false }
        if found.map({ $0.isSame(as: store.kept) }) ?? (store.kept == nil) { return true }
        guard renewal.canObtain || found != nil && found?.session == store.state.current?.tokens.session else {
            store.kept = found
            store.adopt(found, isKept: true)
            return false
        }
        store.kept = found
        guard let found else { return true }
        tokens = found
        guard store.state.finishElsewhere(id, found, date: store.time.date) else { return true }
        store.renewed()
        end(in: store)
        return false
    }

    /// Requests new tokens. A request that ignores its cancellation is abandoned. The wait for another process does not
    /// count toward its time limit.
    private func request(_ tokens: Tokens?, _ store: isolated TokenStore) async -> Result<Tokens, any Error> {
        let (new, id, renewal) = (SharedResult<Tokens>(), ObjectIdentifier(store), renewal)
        let work = Task.detached {
            do {
                let tokens = try await Self.$store.withValue(id) { try await renewal.run(tokens) }
                try tokens.check()
                new.finish(.success(tokens))
            } catch {
                new.finish(.failure(error))
            }
        }
        defer { work.cancel() }
        let end = SystemTime.Deadline(store.policy.timeLimit, after: store.time.now)
        do { return .success(try await new.wait(until: end, on: store.time)) } catch { return .failure(error) }
    }

    /// Stores new tokens and makes them current, or signs the account out if the refresh token is no longer valid.
    private func keep(_ result: Result<Tokens, any Error>, _ store: isolated TokenStore) async {
        let outcome: TokenState.RefreshOutcome
        var failure: NetworkError?
        switch result {
        case .success(let tokens): outcome = .tokens(tokens)
        case .failure(let error):
            let cause = NetworkError(error)
            outcome = cause.endsTokens ? .refused : .failed
            failure = cause.endsTokens ? .refusedRefresh(cause) : .failedRefresh(cause)
        }
        switch store.state.finish(id, with: outcome) {
        case .discarded: return
        case .kept: store.lastFailure = failure
        case .signedOut:
            (store.lastFailure, store.isFromRefresh) = (nil, !renewal.canObtain)
            store.publishPrincipal()
            store.announce(.signedOut)
            try? await store.save()
        case .arrived:
            store.isFromRefresh = !renewal.canObtain
            try? await store.save()
            guard store.state.commit(id, date: store.time.date) else { return }
            store.renewed()
        }
        end(failure, in: store)
    }
}
