// SPDX-License-Identifier: MIT

import CurlewCore

extension TokenStore {
    /// A policy that determines when tokens are refreshed, how long calls wait, and how many refreshes may run.
    public struct RefreshPolicy: Hashable, Sendable {
        /// How long before their expiry tokens are refreshed, while calls still use them; at most a quarter of their
        /// lifetime. Default 60 s. With zero, only tokens that have expired or were refused are refreshed.
        public var leeway: Duration
        /// The maximum time that a call waits for a refresh. Then the call fails with `.timedOut(.total)`, and the
        /// refresh continues. Default 30 s.
        public var timeout: Duration
        /// The maximum time of a refresh, after which it is cancelled and fails. Default 120 s, at least `timeout`.
        ///
        /// If processes share a file, a refresh first waits until no other process is refreshing. That wait has the
        /// same limit and is not counted.
        ///
        /// A result that arrives in time is stored, even if no call waits for it any more. Calls that need tokens wait
        /// for this refresh instead of sending the same refresh token again, because many servers revoke a sign-in
        /// whose refresh token is used twice.
        public var maximumRefreshTime: Duration
        /// The maximum number of refreshes within `window`, so that refreshes do not continue endlessly if the server
        /// refuses each new token. Refreshes of tokens that have not expired use at most half of it (at least 1).
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
