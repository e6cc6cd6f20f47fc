// SPDX-License-Identifier: MIT

import CurlewCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The storage of a cache: entries that consist of a response head and a body, found by their key.
///
/// A store only keeps and finds entries; the cache decides what may be stored or used. `CacheSuite.stores` in
/// CurlewTesting checks the following contract:
/// - An entry becomes visible as a whole with its `commit`, and not before.
/// - An opened body can be read to its end, even if its entry is removed or replaced while it is read.
/// - A removal also applies to entries that are still being written: an entry whose lookup preceded the removal, in any
///   process, is not committed after it (`CacheFindings.Epoch`).
/// - An older response never replaces a newer one of the same key and variant. The times at which the requests were
///   sent decide.
/// - The store enforces its limits and evicts the least recently used entries. At most `StoredResponse.variantLimit`
///   entries share a key; the oldest is removed.
/// - Any operation may throw. The cache then asks the network and notifies the observers.
///
/// Several tasks may call every member concurrently. Two changes of one entry are made one after the other.
public protocol CacheStore: Sendable {
    /// Whether entries outlive the process. Responses for a principal that only this process knows are not stored in
    /// such a store.
    var isLasting: Bool { get }
    /// 32 random bytes that stay with the store and are the same for all its processes. Credentials are hashed with
    /// them for the keys of the entries, so that the user of an API key or a cookie finds stored responses in the next
    /// process. Default nil: a store that outlives the process then receives no responses that belong to such a
    /// credential. May read a small file once.
    var principalKey: Data? { get }
    /// The maximum number of bytes of one body.
    var bodyLimit: Int64 { get }
    /// Returns the entries of a key, newest first, and the store's epoch from before the lookup. This does not count as
    /// a use.
    func find(_ key: CacheKey) async throws -> CacheFindings
    /// Opens the body of an entry, which counts as a use. Returns nil if the entry no longer exists.
    func body(of response: StoredResponse) async throws -> (any CacheBody)?
    /// Begins an entry, which stays invisible until `commit`.
    ///
    /// - `epoch`: the epoch of the lookup that preceded the request; nil for the current one.
    func write(_ response: StoredResponse, since epoch: CacheFindings.Epoch?) async throws -> any CacheWriter
    /// Replaces the head of the entry with this `id`, but neither its body nor its `bodyLength`. Returns false, and
    /// changes nothing, if the entry no longer exists.
    @discardableResult
    func update(_ response: StoredResponse) async throws -> Bool
    /// Removes the entries that `selection` contains, and returns their number.
    @discardableResult
    func remove(_ selection: CacheRemoval) async throws -> Int
    /// Returns how full the store is.
    func statistics() async throws -> CacheStatistics
    /// Returns the number of entries evicted for the limits since the previous call, without waiting. Default 0.
    func takeEvictionCount() -> Int
}

extension CacheStore {
    /// Nil.
    public var principalKey: Data? { nil }

    /// Returns 0: no evictions are reported.
    public func takeEvictionCount() -> Int { 0 }

    /// Returns the entries of a key, newest first; empty if there are none.
    public func variants(for key: CacheKey) async throws -> [StoredResponse] {
        try await find(key).variants
    }

    /// Begins an entry whose request is sent now.
    public func write(_ response: StoredResponse) async throws -> any CacheWriter {
        try await write(response, since: nil)
    }

    /// Removes all entries. Bodies that are being read can be read to their end.
    public func clear() async throws {
        _ = try await remove(.everything)
    }

    /// Removes the entries whose server was asked longer ago than `age`, and returns their number. Checks every entry.
    @discardableResult
    public func remove(olderThan age: Duration, at now: Date = Date()) async throws -> Int {
        try await remove(.unchecked(since: now.addingTimeInterval(-(age / .seconds(1)))))
    }

    /// Removes the entries for which `matches` returns true, and returns their number. Checks every entry.
    @discardableResult
    public func remove(
        matching matches: @escaping @Sendable (StoredResponse) -> Bool
    ) async throws -> Int {
        try await remove(.matching(matches))
    }
}

extension CacheFindings {
    /// The number of removals that a store has performed. An entry is committed only if no removal since its lookup
    /// contains it, so that a change takes precedence over a response in transit, across clients and processes.
    public struct Epoch: Hashable, Sendable {
        /// The number of the last removal.
        public let number: Int64

        /// Creates the epoch after the removal with this number.
        public init(_ number: Int64) { self.number = number }
    }
}

/// The result of a lookup: the entries of a key, and the epoch.
public struct CacheFindings: Sendable {
    /// The entries, the newest first.
    public var variants: [StoredResponse]
    /// The store's epoch from before the lookup.
    public var epoch: CacheFindings.Epoch

    /// Creates the result of a lookup, for a custom store.
    public init(_ variants: [StoredResponse] = [], epoch: CacheFindings.Epoch) {
        self.variants = variants
        self.epoch = epoch
    }
}

/// Writes the body of one entry, then commits or abandons the entry. Used by one task at a time.
public protocol CacheWriter: Sendable {
    /// Appends a chunk to the body. Returns false if the store accepts no more of it: the entry is then abandoned.
    func append(_ chunk: Data) async throws -> Bool
    /// Makes the entry visible with the appended bytes, in place of the entries of the same key and variant and of
    /// `others`. Returns false if a removal since its epoch contains the entry or if a newer response is stored: it
    /// then stays invisible.
    @discardableResult
    func commit(replacing others: [StoredResponse.ID]) async throws -> Bool
    /// Abandons the entry. Has no effect after `commit`. A writer that is deallocated before either call abandons its
    /// entry.
    func abandon()
}

/// The body of an entry, open for reading.
public protocol CacheBody: Sendable {
    /// The number of bytes.
    var length: Int64 { get }
    /// All bytes, if they are in memory already; otherwise nil, which is the default.
    var bytes: Data? { get }
    /// Reads at most `count` bytes, and at least one, from `offset`. Returns no bytes at the end.
    func read(from offset: Int64, upTo count: Int) async throws -> Data
    /// Releases the resources used for reading. Nothing is read afterwards. Called at least once.
    func close()
}

extension CacheBody {
    /// Nil: the body is not in memory.
    public var bytes: Data? { nil }
}

/// How full a store is, and its counters since it was opened.
public struct CacheStatistics: Hashable, Sendable {
    /// The number of visible entries.
    public var entries: Int
    /// The number of bytes of heads and bodies, as the store counts them.
    public var bytes: Int64
    /// The number of bodies that were opened.
    public var hits: Int64
    /// The number of entries that were committed.
    public var stored: Int64
    /// The number of entries that were evicted for the limits.
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
