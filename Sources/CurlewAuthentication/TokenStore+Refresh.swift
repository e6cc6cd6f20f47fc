// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// Provides tokens to calls and refreshes them, as `TokenState` decides.
extension TokenStore {
    /// Returns the tokens for a call; nil when signed out, and when they were refused and cannot be refreshed.
    ///
    /// - `version`: the version of the tokens that the server has just refused; nil if it has refused none.
    /// - `deadline`: the time until which the call waits for the stored tokens or a refresh, by the call's own `clock`.
    /// - `willWait`: called before the call waits for a refresh. From then on, the refused response is not needed.
    func issued(
        refused version: UInt64? = nil, until deadline: Deadline, on clock: any TimeSource, by renewal: Renewal?,
        willWait: @Sendable () -> Void = {}
    ) async throws -> IssuedTokens? {
        try await load(until: deadline, on: clock)
        let step = state.step(
            refused: version, canRefresh: renewal != nil, canObtain: renewal?.canObtain ?? false, now: time.now,
            date: time.date)
        switch step {
        case .use(let issued): return issued
        case .useAndRefresh(let issued, let refreshID):
            if let renewal { start(refreshID, issued.tokens, renewal) }
            return issued
        case .refresh(let issued, let refreshID):
            guard let renewal else { return nil }
            start(refreshID, issued?.tokens, renewal)
            willWait()
            return try await outcome(of: refreshID, until: deadline, on: clock)
        case .wait(let refreshID):
            willWait()
            return try await outcome(of: refreshID, until: deadline, on: clock)
        case .signedOut, .giveUp: return nil
        case .tooMany(let wait): throw tooMany(wait)
        }
    }

    private func tooMany(_ wait: Duration) -> NetworkError {
        if var failure = lastFailure {
            failure.detail += " The next refresh is possible in \(wait.brief)."
            return failure
        }
        return NetworkError(
            .notAuthenticated(.tooManyRefreshes),
            detail: "The tokens were refreshed \(policy.limit) times within \(policy.window.brief), and are refused "
                + "again. The next refresh is possible in \(wait.brief).",
            hint: "The server refuses tokens that it has just issued. Check its clock and the token's audience.")
    }

    /// Records that the server refused tokens of a call that does not wait. The refresh begins for later calls.
    func refuse(_ version: UInt64, by renewal: Renewal?) {
        let step = state.step(
            refused: version, canRefresh: renewal != nil, canObtain: renewal?.canObtain ?? false, now: time.now,
            date: time.date)
        if case .refresh(let issued, let refreshID) = step, let renewal { start(refreshID, issued?.tokens, renewal) }
    }

    /// Records the server's time, from the `Date` field of a response.
    func learn(serverDate: Date) {
        state.learn(serverDate: serverDate, at: time.date)
    }

    /// The store whose refresh runs in the current task; nil in all other tasks.
    @TaskLocal private static var renewing: ObjectIdentifier?

    /// Whether the current task is a refresh of this store. Its requests must not wait for tokens from the store,
    /// because they would wait for themselves.
    nonisolated var isRenewing: Bool { Self.renewing == ObjectIdentifier(self) }

    private func start(_ number: UInt64, _ tokens: Tokens?, _ renewal: Renewal) {
        _ = sharedRefresh(number)
        isObtained = renewal.canObtain
        let (time, store) = (time, ObjectIdentifier(self))
        let limit = max(policy.timeout, policy.longestRefresh)
        let (isShared, end) = (persistence is any SharedTokens, Deadline(limit, after: time.now))
        // Detached, because the cancellation of a caller must not end the refresh: the server may already have
        // exchanged the refresh token.
        Task.detached {
            let turn = await self.turn(of: number, tokens, canObtain: renewal.canObtain, limit: limit)
            switch turn {
            case .over: return
            case .failed(let error): await self.finish(number, .failure(error))
            case .renewed(let tokens): await self.finishElsewhere(number, tokens)
            case .renew(let tokens, let lock):
                // The wait for another process does not count toward the time limit of the refresh.
                let end = isShared ? Deadline(limit, after: time.now) : end
                let result = await Self.run(renewal, tokens, for: store, until: end, on: time)
                await self.finish(number, result)
                lock?.release()
            }
        }
    }

    private static func run(
        _ renewal: Renewal, _ tokens: Tokens?, for store: ObjectIdentifier, until end: Deadline, on time: any TimeSource
    ) async -> Result<Tokens, any Error> {
        let result = SharedResult<Result<Tokens, any Error>>()
        let work = Task.detached {
            do {
                let tokens = try await Self.$renewing.withValue(store) { try await renewal.run(tokens) }
                try tokens.check()
                result.finish(.success(.success(tokens)))
            } catch {
                result.finish(.success(.failure(error)))
            }
        }
        let outcome = try? await result.wait(until: end, on: time)
        // A refresh that ignores its cancellation is abandoned.
        if outcome == nil { work.cancel() }
        return outcome ?? .failure(DeadlinePassed())
    }

    /// Returns the shared result that calls wait for. It fails after `TokenStore.RefreshPolicy.timeout`, although the
    /// refresh may take longer. A later call then creates another shared result for the same refresh, because a second
    /// refresh would send the same refresh token again.
    private func sharedRefresh(_ number: UInt64) -> SharedResult<Void> {
        if let shared = refreshes[number] { return shared }
        let shared = SharedResult<Void>()
        refreshes[number] = shared
        let (time, end) = (time, Deadline(policy.timeout, after: time.now))
        Task.detached { [weak self] in
            do {
                try await shared.wait(until: end, on: time)
            } catch is DeadlinePassed {
                await self?.close(shared, of: number)
            } catch {
                // The refresh has failed, and the calls have received its error.
            }
        }
        return shared
    }

    private func close(_ shared: SharedResult<Void>, of number: UInt64) {
        // If the tokens have arrived and are being stored, the time limit of the storage applies instead.
        guard refreshes[number] === shared, !state.hasArrived(number) else { return }
        refreshes[number] = nil
        var failure = NetworkError.failedRefresh(DeadlinePassed())
        failure.detail += " The refresh took longer than \(policy.timeout.brief) and continues."
        shared.finish(.failure(failure))
    }

    private func finish(_ number: UInt64, _ result: Result<Tokens, any Error>) async {
        let (outcome, failure) = Self.outcome(result)
        switch state.finish(number, with: outcome) {
        case .discarded: return
        case .kept: lastFailure = failure
        case .signedOut:
            (lastFailure, isFromRefresh) = (nil, true)
            publishPrincipal()
            announce(.signedOut)
            try? await save()
        case .arrived:
            isFromRefresh = true
            try? await save()
            guard state.commit(number, date: time.date) else { return }
            renewed()
        }
        refreshes.removeValue(forKey: number)?.finish(failure.map { .failure($0) } ?? .success(()))
    }

    private func finishElsewhere(_ number: UInt64, _ tokens: Tokens) {
        guard state.finishElsewhere(number, tokens, date: time.date) else { return }
        renewed()
        refreshes.removeValue(forKey: number)?.finish(.success(()))
    }

    private func renewed() {
        lastFailure = nil
        publishPrincipal()
        announce(.refreshed)
    }

    private func outcome(
        of number: UInt64, until deadline: Deadline, on clock: any TimeSource
    ) async throws -> IssuedTokens? {
        let session = state.firstVersion
        try await sharedRefresh(number).wait(until: deadline, on: clock)
        // A sign-out or sign-in may have occurred between the end of the refresh and this line.
        guard state.firstVersion == session, let current = state.current else { throw Self.signedOut }
        return current
    }

    private static func outcome(_ result: Result<Tokens, any Error>) -> (TokenState.RefreshOutcome, NetworkError?) {
        switch result {
        case .success(let tokens): return (.tokens(tokens), nil)
        case .failure(let error):
            let failure = NetworkError(error)
            guard failure.endsTokens else { return (.failed, .failedRefresh(failure)) }
            return (
                .refused,
                NetworkError(
                    .notAuthenticated(.refreshRefused), detail: "The server no longer refreshes the tokens.",
                    hint: "Sign in again.", underlying: failure)
            )
        }
    }

    static let signedOut = NetworkError(
        .notAuthenticated(.signedOut), detail: "The account was signed out while the call waited.",
        hint: "Sign in again.")
    static let replaced = NetworkError(
        .notAuthenticated(.signedOut), detail: "The user signed in again while the call waited for tokens.",
        hint: "Send the call again if it belongs to the new session.")

    /// Ends the waits for all refreshes: the waiting calls fail with `error`.
    func failPendingRefreshes(with error: NetworkError) {
        let cancelled = refreshes.values
        (refreshes, lastFailure) = ([:], nil)
        for refresh in cancelled { refresh.finish(.failure(error)) }
    }
}
