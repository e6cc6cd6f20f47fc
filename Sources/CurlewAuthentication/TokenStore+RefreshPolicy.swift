// SPDX-License-Identifier: MIT

import CurlewCore

extension TokenStore {
    /// Specifies when tokens are refreshed, and how often at most.
    public struct RefreshPolicy: Hashable, Sendable {
        /// The time before their expiry from which tokens are refreshed while calls still use them; never more than the
        /// last quarter of their lifetime. Default 60 s; zero refreshes only tokens that have expired or were refused.
        public var leeway: Duration
        /// How long a call waits for a refresh before it fails with `.timedOut(.total)`. The refresh continues. Default
        /// 30 s.
        public var timeout: Duration
        /// The time after its start at which a refresh is cancelled and fails. Default 120 s, at least `timeout`.
        ///
        /// Where processes share a file, a refresh starts when no other process refreshes; the wait for that may take
        /// as long again.
        ///
        /// Until then the result of the refresh is stored, even when no call waits for it any more. Calls that need
        /// tokens wait for it instead of presenting the same refresh token again: many servers revoke a sign-in whose
        /// refresh token is presented twice.
        public var longestRefresh: Duration
        /// The maximum number of refreshes within `window`, for a server that refuses each new token. Default 10, at
        /// least 1.
        public var limit: Int
        /// The period for `limit`. Default 60 s.
        public var window: Duration

        /// Creates a policy. Parameters that are omitted have the default values.
        public init(
            leeway: Duration = .seconds(60), timeout: Duration = .seconds(30), limit: Int = 10,
            window: Duration = .seconds(60), longestRefresh: Duration = .seconds(120)
        ) {
            self.leeway = leeway
            self.timeout = timeout
            self.longestRefresh = longestRefresh
            self.limit = limit
            self.window = window
        }

        /// The default policy.
        public static let standard = TokenStore.RefreshPolicy()
    }
}
