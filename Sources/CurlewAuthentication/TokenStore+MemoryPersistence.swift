// SPDX-License-Identifier: MIT

import CurlewCore

extension TokenStore {
    /// A storage that keeps the tokens of a `TokenStore` between launches.
    ///
    /// A storage belongs to one store. The store runs one save at a time, and the last save has the newest tokens. A
    /// load may run during a save.
    public protocol Persistence: Sendable {
        /// Returns the tokens that were saved last; nil if there are none. Throws if tokens may be stored but cannot be
        /// read.
        func load() async throws -> Tokens?
        /// Replaces the stored tokens with `tokens`, entirely or not at all; nil removes them.
        func save(_ tokens: Tokens?) async throws
    }
}

extension TokenStore {
    /// A token storage that keeps nothing between launches: the tokens exist as long as their store.
    public struct MemoryPersistence: TokenStore.Persistence {
        /// Creates a token storage that stores nothing.
        public init() {}

        /// Returns nil, because nothing is stored.
        public func load() async throws -> Tokens? { nil }

        /// Does nothing: only the store keeps the tokens.
        public func save(_ tokens: Tokens?) async throws {}
    }
}

extension TokenStore.Persistence where Self == TokenStore.MemoryPersistence {
    /// A token storage in memory, for tokens that exist as long as their store.
    public static var memory: TokenStore.MemoryPersistence { TokenStore.MemoryPersistence() }
}
