// SPDX-License-Identifier: MIT

/// Where a `TokenStore` keeps tokens between launches.
///
/// Called by one store at a time, never twice at once, and always with the newest tokens last.
public protocol TokenPersistence: Sendable {
    /// What was saved last; nil if nothing was. An error means that there may be tokens which cannot be read.
    func load() async throws -> Tokens?
    /// Keeps `tokens` in place of what was there, whole or not at all; nil forgets them.
    func save(_ tokens: Tokens?) async throws
}

/// Keeps nothing: tokens live as long as their store.
public struct VolatileTokens: TokenPersistence {
    /// A place that forgets.
    public init() {}

    /// Nil.
    public func load() async throws -> Tokens? { nil }

    /// Does nothing.
    public func save(_ tokens: Tokens?) async throws {}
}

extension TokenPersistence where Self == VolatileTokens {
    /// Tokens live as long as their store.
    public static var memory: VolatileTokens { VolatileTokens() }
}
