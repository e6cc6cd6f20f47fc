// SPDX-License-Identifier: MIT

import CurlewCore
public import CurlewFoundation

extension HTTPCache {
    /// A store for the entries of a cache. An entry consists of a response head and a body, and is found by its key.
    ///
    /// A store only keeps and finds entries; the cache decides what may be stored or used. The contract of a store:
    /// - An entry becomes visible as a whole, when it is committed, and not earlier.
    /// - An opened body can be read to its end, even if the entry is removed or replaced in the meantime.
    /// - A removal also applies to entries that are being written. If an entry's lookup preceded a removal that
    ///   contains the entry, the entry is not committed afterwards, in any process (`HTTPCache.Entry.Lookup.Epoch`).
    /// - An older response never replaces a newer one of the same key and variant. Their request times decide
    ///   (`HTTPCache.Entry.requestTime`).
    /// - The store enforces its limits and evicts the least recently used entries. If more than
    ///   `HTTPCache.Entry.variantLimit` entries share a key, the oldest one is removed.
    /// - Any operation may throw. The cache then sends the request to the server, and reports the error to the
    ///   observers.
    ///
    /// All members may be called concurrently from several tasks. The store performs the changes to one entry one after
    /// the other.
    public protocol Store: Sendable {
        /// Whether entries outlive the process. If true, the cache does not store responses for a principal that only
        /// this process knows.
        var isLasting: Bool { get }
        /// The key with which credentials are hashed before they become part of the keys of entries: 32 random bytes,
        /// kept with the store and shared by its processes. With it, a request with an API key or a cookie finds the
        /// responses that an earlier process stored. Default nil: a store that outlives the process then receives no
        /// responses that belong to such a credential. The first access may read a small file.
        var principalKey: Data? { get }
        /// The maximum number of bytes of one body. The cache also has a limit: `HTTPCache.Options.bodyLimit`.
        var bodyLimit: Int64 { get }
        /// Returns the entries of a key, newest first, and the epoch of the store before the lookup. A lookup does not
        /// count as a use of the entries.
        func find(_ key: HTTPCache.Entry.Key) async throws -> HTTPCache.Entry.Lookup
        /// Opens the body of an entry; nil if the entry no longer exists. Opening a body counts as a use of its entry.
        func body(of response: HTTPCache.Entry) async throws -> (any HTTPCache.Entry.Body)?
        /// Begins to write an entry, which stays invisible until `commit`.
        ///
        /// - `epoch`: the epoch of the lookup before the request; nil for the current epoch.
        func write(_ response: HTTPCache.Entry, since epoch: HTTPCache.Entry.Lookup.Epoch?) async throws
            -> any HTTPCache.Entry
            .Writer
        /// Replaces the head of the entry with this `id`, but neither its body nor its `bodyLength`, and removes other
        /// entries of its key and variant. Returns false, and changes nothing, if no entry has this `id` and key.
        @discardableResult
        func update(_ response: HTTPCache.Entry) async throws -> Bool
        /// Removes the entries in `selection`, and returns their number.
        @discardableResult
        func remove(_ selection: HTTPCache.Removal) async throws -> Int
        /// Returns the size of the store and its counters.
        func statistics() async throws -> HTTPCache.Statistics
        /// Returns the number of entries that the store has evicted since the previous call. Must not wait. Default 0.
        func takeEvictionCount() -> Int
    }
}

extension HTTPCache.Store {
    /// Nil: the store has no secret for the hashes of credentials.
    public var principalKey: Data? { nil }

    /// Returns 0: no evictions are reported.
    public func takeEvictionCount() -> Int { 0 }

    /// Returns the entries of a key, newest first; empty if there are none.
    package func variants(for key: HTTPCache.Entry.Key) async throws -> [HTTPCache.Entry] {
        try await find(key).variants
    }

    /// Begins to write an entry, with the current epoch of the store.
    package func write(_ response: HTTPCache.Entry) async throws -> any HTTPCache.Entry.Writer {
        try await write(response, since: nil)
    }

    /// Removes all entries. Bodies that are being read can be read to their end. Throws the error of the store.
    public func clear() async throws {
        _ = try await remove(.everything)
    }
}

extension HTTPCache.Entry.Lookup {
    /// A position in the sequence of a store's removals. An entry is committed only if no removal after the epoch of
    /// its lookup contains it, so that a change takes precedence over a response in transit, across clients and
    /// processes.
    public struct Epoch: Hashable, Sendable {
        /// The number of the store's last removal at this position. Later removals have greater numbers.
        public let number: Int64

        /// Creates the epoch after the removal with this number.
        public init(_ number: Int64) { self.number = number }
    }
}

extension HTTPCache.Entry {
    /// The result of a lookup: the entries of a key, and the epoch of the store.
    public struct Lookup: Sendable {
        /// The entries, newest first.
        public var variants: [HTTPCache.Entry]
        /// The epoch of the store before the lookup.
        public var epoch: HTTPCache.Entry.Lookup.Epoch

        /// Creates the result of a lookup, for a custom store.
        public init(_ variants: [HTTPCache.Entry] = [], epoch: HTTPCache.Entry.Lookup.Epoch) {
            self.variants = variants
            self.epoch = epoch
        }
    }

    /// Writes one entry: its body, then `commit` or `abandon`. Only `abandon` may be called during another call.
    public protocol Writer: Sendable {
        /// Appends a chunk to the body. Returns false if the store accepts no more bytes, for example because of a
        /// limit; the entry is then abandoned.
        func append(_ chunk: Data) async throws -> Bool
        /// Makes the entry visible with the appended bytes. The entry replaces the entries of the same key and variant,
        /// and those with the identifiers in `others`. Returns false, and leaves the entry invisible, if a removal
        /// after its epoch contains it or if a newer response is stored.
        @discardableResult
        func commit(replacing others: [HTTPCache.Entry.ID]) async throws -> Bool
        /// Ends the writing, and leaves the entry invisible. Has no effect after `commit`. A writer that is deallocated
        /// before either call abandons its entry.
        func abandon()
    }

    /// The body of an entry, open for reading.
    public protocol Body: Sendable {
        /// The length of the body in bytes.
        var length: Int64 { get }
        /// All bytes of the body if they are already in memory; otherwise nil. Default nil.
        var bytes: Data? { get }
        /// Reads at most `count` bytes from `offset`, and at least one. Returns no bytes at the end of the body.
        func read(from offset: Int64, upTo count: Int) async throws -> Data
        /// Releases the resources that reading needs. Called at least once. Only a read in progress may follow.
        func close()
    }
}

extension HTTPCache.Entry.Body {
    /// Nil: the body is not in memory.
    public var bytes: Data? { nil }
}

extension HTTPCache {
    /// The size of a store, and its counters since it was created.
    public struct Statistics: Hashable, Sendable {
        /// The number of visible entries.
        public var entries: Int
        /// The number of bytes of all heads and bodies, as the store counts them for its limits.
        public var bytes: Int64
        /// The number of bodies that were opened.
        public var hits: Int64
        /// The number of entries that were committed.
        public var stored: Int64
        /// The number of entries that were evicted to keep the limits or to free memory.
        public var evicted: Int64

        /// Creates statistics, for a custom store.
        public init(entries: Int = 0, bytes: Int64 = 0, hits: Int64 = 0, stored: Int64 = 0, evicted: Int64 = 0) {
            self.entries = entries
            self.bytes = bytes
            self.hits = hits
            self.stored = stored
            self.evicted = evicted
        }
    }
}
