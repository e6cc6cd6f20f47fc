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
        refused version: UInt64? = nil, until deadline: SystemTime.Deadline, on clock: any TimeSource,
        by renewal: Renewal?,
        willWait: @Sendable () -> Void = {}
    ) async throws -> IssuedTokens? {
        try await load(until: deadline, on: clock)
        switch step(refused: version, renewal) {
        case .use(let issued), .useAndRefresh(let issued, _): return issued
        case .refresh, .wait:
            willWait()
            return try await refreshed(until: deadline, on: clock)
        case .signedOut, .giveUp: return nil
        case .tooMany(let wait): throw tooMany(wait)
        }
    }

    /// Returns the next step of a call, and starts the refresh that belongs to it.
    private func step(refused version: UInt64?, _ renewal: Renewal?) -> TokenState.Step {
        let step = state.step(
            refused: version, canRefresh: renewal != nil, canObtain: renewal?.canObtain ?? false, now: time.now,
            date: time.date)
        switch step {
        case .refresh(let issued, let id):
            flight = renewal.map { RefreshFlight(id, of: issued?.tokens, in: self, by: $0) }
        case .useAndRefresh(let issued, let id):
            flight = renewal.map { RefreshFlight(id, of: issued.tokens, in: self, by: $0) }
        default: break
        }
        return step
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
        _ = step(refused: version, renewal)
    }

    /// Records the server's time, from the `Date` field of a response.
    func learn(serverDate: Date) {
        state.learn(serverDate: serverDate, at: time.date)
    }

    /// Whether the current task is a refresh of this store. Its requests must not wait for tokens from the store,
    /// because they would wait for themselves.
    nonisolated var isRenewing: Bool { RefreshFlight.store == ObjectIdentifier(self) }

    func renewed() {
        lastFailure = nil
        publishPrincipal()
        announce(.refreshed)
    }

    /// Waits for the refresh in progress, at most `TokenStore.RefreshPolicy.timeout`, and returns the new tokens.
    private func refreshed(until deadline: SystemTime.Deadline, on clock: any TimeSource) async throws
        -> IssuedTokens?
    {
        guard let flight else { return state.current }
        let session = state.firstVersion
        let limit = SystemTime.Deadline(policy.timeout, after: clock.now)
        do {
            try await flight.done.wait(until: deadline.earlier(limit), on: clock)
        } catch is DeadlinePassed where !deadline.hasPassed(at: clock.now) {
            // While the tokens are being stored, the time limit of the storage applies instead.
            guard self.flight !== flight || state.isStoring else {
                var failure = NetworkError.failedRefresh(DeadlinePassed())
                failure.detail += " The refresh took longer than \(policy.timeout.brief) and continues."
                throw failure
            }
            try await flight.done.wait(until: deadline, on: clock)
        }
        // A sign-out or sign-in may have occurred between the end of the refresh and this line.
        guard state.firstVersion == session, let current = state.current else { throw Self.signedOut }
        return current
    }

    /// A policy that determines when tokens are refreshed, how long calls wait, and how many refreshes may run.
    public struct RefreshPolicy: Hashable, Sendable {
        /// How long before their expiry tokens are refreshed, while calls still use them; at most a quarter of their
        /// lifetime. Default 60 s. With zero, only tokens that have expired or were refused are refreshed.
        public var leeway: Duration
        /// The maximum time that a call waits for a refresh. Then the call throws `.timedOut(.total)`, and the refresh
        /// continues. Storing the tokens may take as long again. Also the limit of `tokens` and `save()`. Default 30 s.
        public var timeout: Duration
        /// The maximum time of a refresh; then the refresh is cancelled and fails. Default 120 s. A value below
        /// `timeout` counts as `timeout`.
        ///
        /// If processes share a file, a refresh first waits until no other process is refreshing. That wait has a limit
        /// of the same length, after which the refresh fails with `.storage`.
        ///
        /// New tokens that arrive in time are stored, even if no call waits for them. Meanwhile no call sends the same
        /// refresh token again, because many servers revoke a sign-in whose refresh token is used twice.
        public var maximumRefreshTime: Duration
        /// The maximum number of refreshes within `window`, in case the server refuses each new token. Beyond the
        /// limit, calls that need new tokens throw the error of the last refresh, or
        /// `.notAuthenticated(.tooManyRefreshes)`. Refreshes before expiry use at most half of the limit (at least 1).
        /// Default 10, at least 1.
        public var limit: Int
        /// The period in which refreshes count toward `limit`. Default 60 s.
        public var window: Duration

        /// Creates a policy. Parameters that are omitted have the default values.
        public init(
            leeway: Duration = .seconds(60), timeout: Duration = .seconds(30), limit: Int = 10,
            window: Duration = .seconds(60), maximumRefreshTime: Duration = .seconds(120)
        ) {
            self.leeway = leeway
            self.timeout = timeout
            self.maximumRefreshTime = maximumRefreshTime
            self.limit = limit
            self.window = window
        }

        var timeLimit: Duration { max(timeout, maximumRefreshTime) }

        /// The policy with the default value of each property.
        public static let standard = TokenStore.RefreshPolicy()
    }
}
