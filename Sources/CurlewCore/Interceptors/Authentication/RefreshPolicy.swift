// SPDX-License-Identifier: MIT

/// When tokens are renewed, and how often at most.
public struct RefreshPolicy: Hashable, Sendable {
    /// Tokens that end within this time are renewed ahead, while calls still use them; never more than the last quarter
    /// of their life. Default 60 s; zero renews only what has ended or was refused.
    public var leeway: Duration
    /// A refresh that takes longer has failed. Default 30 s.
    public var timeout: Duration
    /// At most this many refreshes within `window`; a server that refuses each new token must not be asked for ever.
    /// Default 10, at least 1.
    public var limit: Int
    /// See `limit`. Default 60 s.
    public var window: Duration

    /// A policy with the defaults where nothing is said.
    public init(
        leeway: Duration = .seconds(60), timeout: Duration = .seconds(30), limit: Int = 10,
        window: Duration = .seconds(60)
    ) {
        self.leeway = leeway
        self.timeout = timeout
        self.limit = limit
        self.window = window
    }

    /// The defaults.
    public static let standard = RefreshPolicy()
}
