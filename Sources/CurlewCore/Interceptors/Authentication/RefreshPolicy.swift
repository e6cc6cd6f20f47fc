// SPDX-License-Identifier: MIT

/// When tokens are renewed, and how often at most.
public struct RefreshPolicy: Hashable, Sendable {
    /// Tokens that end within this time are renewed ahead, while calls still use them; never more than the last quarter
    /// of their life. Default 60 s; zero renews only what has ended or was refused.
    public var leeway: Duration
    /// A call waits this long for a refresh and fails then with `.timedOut(.total)`. The refresh goes on. Default 30 s.
    public var timeout: Duration
    /// A refresh that takes longer, counted from its start, is cancelled and has failed. Default 120 s, at least
    /// `timeout`.
    ///
    /// Where processes share a file, it starts when no other renews; the wait for that may be as long again.
    ///
    /// Until then its result is kept, also when no call waits for it any more, and calls that need tokens wait for it
    /// instead of presenting the same refresh token again: many servers revoke a sign-in whose refresh token comes twice.
    public var longestRefresh: Duration
    /// At most this many refreshes within `window`; a server that refuses each new token must not be asked for ever.
    /// Default 10, at least 1.
    public var limit: Int
    /// See `limit`. Default 60 s.
    public var window: Duration

    /// A policy with the defaults where nothing is said.
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

    /// The defaults.
    public static let standard = RefreshPolicy()
}
