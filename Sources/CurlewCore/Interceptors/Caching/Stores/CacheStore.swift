// SPDX-License-Identifier: MIT

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Where a cache keeps its responses: entries of a head and a body, found by their key.
///
/// A store keeps and finds; what may be stored or used is decided above it. Contract, which `CacheSuite.stores` in
/// CurlewTesting checks:
/// - An entry is visible from its `commit` on, whole, and never before.
/// - A body that was opened can be read to its end, whatever happens to its entry meanwhile.
/// - A removal also reaches entries that are on their way: what was looked up before it, in whichever process, is not
///   committed after it (`CacheEpoch`).
/// - An older response never takes the place of a newer one of the same key and variant: what counts is when the requests
///   were sent.
/// - The store holds itself to its limits, and gives up what was not used for longest. At most
///   `StoredResponse.variantLimit` entries share a key; the oldest goes.
/// - Errors may be thrown at any time. The cache then asks the network, and tells the observers.
///
/// Everything may be called from several tasks at once; two changes of one entry happen one after the other.
public protocol CacheStore: Sendable {
    /// Whether entries are there in the next process too. What belongs to a principal that is known to this process only
    /// is not given to such a store.
    var isLasting: Bool { get }
    /// 32 random bytes that stay with the store, the same for all its processes: with them credentials are hashed for
    /// the keys of its entries, so that the user of an API key or a cookie finds what is stored in the next process
    /// too. Default nil: then what belongs to such a credential is not given to a store that lasts. May read a small
    /// file once.
    var principalKey: Data? { get }
    /// The most bytes of one body that this store takes.
    var bodyLimit: Int64 { get }
    /// The entries of a key, the newest first, and the epoch of the store before they were looked up. Does not count as a use.
    func find(_ key: CacheKey) async throws -> CacheFindings
    /// Opens the body of an entry, which counts as a use; nil if the entry is not there any more.
    func body(of response: StoredResponse) async throws -> (any CacheBody)?
    /// Begins an entry. Nothing is visible before `commit`.
    ///
    /// - `epoch`: that of the look-up after which the response was asked for; nil for now.
    func write(_ response: StoredResponse, since epoch: CacheEpoch?) async throws -> any CacheWriter
    /// Replaces the head of the entry with this `id`; its body stays, and so does its `bodyLength`. False, and nothing
    /// happens, if the entry is not there any more.
    @discardableResult
    func update(_ response: StoredResponse) async throws -> Bool
    /// Removes what `selection` contains, and says how many entries that were.
    @discardableResult
    func remove(_ selection: CacheSelection) async throws -> Int
    /// How full it is.
    func statistics() async throws -> CacheStatistics
    /// How many entries were given up to hold the limits since this was asked last. It waits for nothing. Default 0.
    func takeEvictionCount() -> Int
}

extension CacheStore {
    /// None.
    public var principalKey: Data? { nil }

    /// None that are told.
    public func takeEvictionCount() -> Int { 0 }

    /// The entries of a key, the newest first; empty if there is none.
    public func variants(for key: CacheKey) async throws -> [StoredResponse] {
        try await find(key).variants
    }

    /// Begins an entry that was asked for now.
    public func write(_ response: StoredResponse) async throws -> any CacheWriter {
        try await write(response, since: nil)
    }

    /// Removes everything. Bodies that are being read can be read to their end.
    public func clear() async throws {
        _ = try await remove(.everything)
    }

    /// Removes the entries whose server was asked longer ago than this, and says how many. Looks at every entry.
    @discardableResult
    public func remove(olderThan age: Duration, at now: Date = Date()) async throws -> Int {
        try await remove(.unchecked(since: now.addingTimeInterval(-(age / .seconds(1)))))
    }

    /// Removes the entries that `matches` says yes to, and says how many they were. Looks at every entry.
    @discardableResult
    public func remove(
        matching matches: @escaping @Sendable (StoredResponse) -> Bool
    ) async throws -> Int {
        try await remove(.matching(matches))
    }
}

/// How many removals a store has seen. An entry is committed only if none of those since its look-up contains it, so that a
/// change wins over a response that was on its way, across clients and processes.
public struct CacheEpoch: Hashable, Sendable {
    /// The number of the last removal.
    public let number: Int64

    /// The epoch after the removal with this number.
    public init(_ number: Int64) { self.number = number }
}

/// What a store has for a key.
public struct CacheFindings: Sendable {
    /// The entries, the newest first.
    public var variants: [StoredResponse]
    /// That of the store before the look-up.
    public var epoch: CacheEpoch

    /// Findings of a store of one's own.
    public init(_ variants: [StoredResponse] = [], epoch: CacheEpoch) {
        self.variants = variants
        self.epoch = epoch
    }
}

/// Takes the body of one entry, and makes the entry visible or forgets it. Used by one task at a time.
public protocol CacheWriter: Sendable {
    /// Appends to the body. False if the store takes no more of it: the entry is abandoned then.
    func append(_ chunk: Data) async throws -> Bool
    /// Makes the entry visible with what was appended, in place of entries of the same key and variant, and of those
    /// named. False if a removal since its epoch contains it, or a newer response has its place: it stays invisible.
    @discardableResult
    func commit(replacing others: [CacheEntryID]) async throws -> Bool
    /// Forgets the entry. Without effect after `commit`. A writer that goes away without either is abandoned.
    func abandon()
}

/// The bytes of an entry, open for reading.
public protocol CacheBody: Sendable {
    /// How many bytes it has.
    var length: Int64 { get }
    /// All bytes, if they are in memory anyway; nil otherwise, which is the default.
    var bytes: Data? { get }
    /// At most `count` bytes (and at least one) from `offset` on; none at the end.
    func read(from offset: Int64, upTo count: Int) async throws -> Data
    /// Gives up what reading holds. Nothing is read afterwards. Called once at least.
    func close()
}

extension CacheBody {
    /// Not in memory.
    public var bytes: Data? { nil }
}

/// How full a store is, and what it did since it was opened.
public struct CacheStatistics: Hashable, Sendable {
    /// Entries that can be found.
    public var entries: Int
    /// Bytes of heads and bodies, as the store counts them.
    public var bytes: Int64
    /// Bodies that were opened.
    public var hits: Int64
    /// Entries that were committed.
    public var stored: Int64
    /// Entries that were given up to hold the limits.
    public var evicted: Int64

    /// Statistics of a store of one's own.
    public init(entries: Int = 0, bytes: Int64 = 0, hits: Int64 = 0, stored: Int64 = 0, evicted: Int64 = 0) {
        self.entries = entries
        self.bytes = bytes
        self.hits = hits
        self.stored = stored
        self.evicted = evicted
    }
}
