// SPDX-License-Identifier: MIT

import CurlewCore

/// Stores the tokens of a `TokenStore` between launches.
///
/// One store at a time calls it, never concurrently, and always with the newest tokens last.
public protocol TokenPersistence: Sendable {
    /// Returns the tokens of the last save; nil if there are none. An error means that there may be tokens that cannot
    /// be read.
    func load() async throws -> Tokens?
    /// Replaces the stored tokens with `tokens`, entirely or not at all; nil removes them.
    func save(_ tokens: Tokens?) async throws
}

/// Stores nothing: tokens last as long as their store.
public struct VolatileTokens: TokenPersistence {
    /// Creates a persistence that stores nothing.
    public init() {}

    /// Returns nil.
    public func load() async throws -> Tokens? { nil }

    /// Has no effect.
    public func save(_ tokens: Tokens?) async throws {}
}

extension TokenPersistence where Self == VolatileTokens {
    /// Keeps tokens as long as their store exists.
    public static var memory: VolatileTokens { VolatileTokens() }
}
