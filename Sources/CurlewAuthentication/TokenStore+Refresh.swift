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
            return try await refreshed(until: deadline, on: clock)
        case .wait:
            willWait()
            return try await refreshed(until: deadline, on: clock)
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
        refresh = SharedResult()
        isObtained = renewal.canObtain
        let end = Deadline(policy.timeLimit, after: time.now)
        // Detached, because the cancellation of a caller must not end the refresh: the server may already have
        // exchanged the refresh token.
        Task.detached { await self.perform(number, tokens, renewal, until: end) }
    }

    private func perform(_ number: UInt64, _ tokens: Tokens?, _ renewal: Renewal, until end: Deadline) async {
        guard let shared = persistence as? any SharedTokens else {
            return await finish(number, await run(renewal, tokens, until: end))
        }
        let lock: FileLock?
        do {
            lock = try await shared.lockForRenewal(until: end, on: time)
        } catch is DeadlinePassed {
            let error = NetworkError(
                .storage, detail: "Another process has been refreshing them for \(policy.timeLimit.brief).",
                hint: "Check whether that process has stopped. The lock is released when it ends.")
            return await finish(number, .failure(error))
        } catch {
            return await finish(number, .failure(error))
        }
        defer { lock?.release() }
        var tokens = tokens
        guard await mustRefresh(number, &tokens, canObtain: renewal.canObtain, shared) else { return }
        // The wait for another process does not count toward the time limit of the refresh.
        await finish(number, await run(renewal, tokens, until: Deadline(policy.timeLimit, after: time.now)))
    }

    private func run(_ renewal: Renewal, _ tokens: Tokens?, until end: Deadline) async -> Result<Tokens, any Error> {
        let (result, store) = (SharedResult<Tokens>(), ObjectIdentifier(self))
        let work = Task.detached {
            do {
                let tokens = try await Self.$renewing.withValue(store) { try await renewal.run(tokens) }
                try tokens.check()
                result.finish(.success(tokens))
            } catch {
                result.finish(.failure(error))
            }
        }
        // A refresh that ignores its cancellation is abandoned.
        defer { work.cancel() }
        do { return .success(try await result.wait(until: end, on: time)) } catch { return .failure(error) }
    }

    private func finish(_ number: UInt64, _ result: Result<Tokens, any Error>) async {
        let (outcome, failure) = Self.outcome(result)
        // Another refresh may begin while the result of this one is being stored.
        let refresh = refresh
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
        end(refresh, failure.map { .failure($0) } ?? .success(()))
    }

    /// Records that there are new tokens.
    func renewed() {
        lastFailure = nil
        publishPrincipal()
        announce(.refreshed)
    }

    /// Ends a refresh for the calls that wait for it.
    func end(_ refresh: SharedResult<Void>?, _ result: Result<Void, any Error>) {
        if self.refresh === refresh { self.refresh = nil }
        refresh?.finish(result)
    }

    /// Waits for the refresh in progress, at most `TokenStore.RefreshPolicy.timeout`, and returns the new tokens.
    private func refreshed(until deadline: Deadline, on clock: any TimeSource) async throws -> IssuedTokens? {
        guard let refresh else { return state.current }
        let session = state.firstVersion
        let limit = Deadline(policy.timeout, after: clock.now)
        do {
            try await refresh.wait(until: deadline.earlier(limit), on: clock)
        } catch is DeadlinePassed where !deadline.hasPassed(at: clock.now) {
            // While the tokens are being stored, the time limit of the storage applies instead.
            guard self.refresh !== refresh || state.isStoring else {
                var failure = NetworkError.failedRefresh(DeadlinePassed())
                failure.detail += " The refresh took longer than \(policy.timeout.brief) and continues."
                throw failure
            }
            try await refresh.wait(until: deadline, on: clock)
        }
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

    /// Ends the waits for a refresh that no longer matters: the waiting calls fail with `error`.
    func abandonRefresh(with error: NetworkError) {
        lastFailure = nil
        end(refresh, .failure(error))
    }
}
