// SPDX-License-Identifier: MIT

import CurlewCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Keeps the most recently used responses in the memory of this process.
///
/// The size of an entry is its body plus an estimate for its head. Entries over a limit are evicted immediately, the
/// least recently used first. The time to find, store or evict an entry does not depend on the number of entries.
/// Copies of a client share the store.
///
/// An origin that uses more than `originShare` of the limits evicts its own entries for a new one, so that it cannot
/// displace all other origins. On Apple platforms the store evicts half of its entries' bytes when the system warns of
/// low memory, and all of them when memory is critically low; on other platforms the app can call `relieve(to:)`.
public final class MemoryCacheStore: CacheStore {
    /// The maximum number of bytes of all entries together, and of all bodies that are being written.
    public let byteLimit: Int64
    /// The maximum number of entries.
    public let entryLimit: Int
    /// The maximum number of bytes of one body.
    public let bodyLimit: Int64

    /// False: entries end with the process.
    public var isLasting: Bool { false }

    /// The fraction of both limits beyond which an origin's new entries evict its own older entries rather than those
    /// of other origins.
    public let originShare: Double

    private let table: Locked<MemoryCacheTable>

    /// Creates an empty store. The default body limit is one eighth of the bytes.
    public init(
        byteLimit: Int64 = 64 << 20, entryLimit: Int = 10_000, bodyLimit: Int64? = nil, originShare: Double = 0.5
    ) {
        self.byteLimit = max(0, byteLimit)
        self.entryLimit = max(0, entryLimit)
        self.bodyLimit = min(bodyLimit ?? self.byteLimit / 8, self.byteLimit)
        self.originShare = originShare
        table = Locked(
            MemoryCacheTable(byteLimit: self.byteLimit, entryLimit: self.entryLimit, originShare: originShare))
        #if canImport(Security)
        MemoryPressure.watch { [weak self] level in
            self?.relieve(level)
            return self != nil
        }
        #endif
    }

    /// Evicts the least recently used entries until the rest uses at most `bytes` bytes, and returns the number of
    /// evicted entries. Call it when the app is notified of low memory. The limits do not change.
    @discardableResult
    public func relieve(to bytes: Int64) -> Int {
        table.withLock { $0.relieve(to: bytes) }
    }

    /// Evicts entries in response to a memory warning of the system.
    func relieve(_ level: MemoryPressure) {
        table.withLock { _ = $0.relieve(to: level.rest(of: $0.statistics.bytes)) }
    }

    /// Returns the number of entries evicted since the previous call.
    public func takeEvictionCount() -> Int {
        table.withLock { $0.takeEvictionCount() }
    }

    /// Returns the entries of a key, newest first, and the store's epoch.
    public func find(_ key: CacheKey) async -> CacheFindings {
        findings(for: key)
    }

    /// Returns the same, synchronously.
    func findings(for key: CacheKey) -> CacheFindings {
        table.withLock { CacheFindings($0.variants(for: key), epoch: CacheFindings.Epoch($0.removals.last)) }
    }

    /// Returns the entries of a key, newest first.
    public func variants(for key: CacheKey) async -> [StoredResponse] {
        table.withLock { $0.variants(for: key) }
    }

    /// Returns the body of an entry. Its bytes stay valid after the entry is removed.
    public func body(of response: StoredResponse) async -> (any CacheBody)? {
        bytes(of: response).map(MemoryCacheBody.init)
    }

    /// Returns the same bytes, synchronously.
    func bytes(of response: StoredResponse) -> Data? {
        table.withLock { $0.use(response) }
    }

    /// Begins an entry whose body is collected in memory.
    public func write(_ response: StoredResponse, since epoch: CacheFindings.Epoch?) async -> any CacheWriter {
        let start = table.withLock { table in
            table.pending[response.id] = 0
            return epoch?.number ?? table.removals.last
        }
        return MemoryCacheWriter(response, to: self, since: start)
    }

    /// Begins an entry whose request is sent now.
    public func write(_ response: StoredResponse) async -> any CacheWriter {
        await write(response, since: nil)
    }

    /// Replaces the head of an entry.
    @discardableResult
    public func update(_ response: StoredResponse) async -> Bool {
        table.withLock { $0.update(response) }
    }

    /// Removes entries, and returns their number.
    @discardableResult
    public func remove(_ selection: CacheRemoval) async -> Int {
        guard case .matching = selection else { return table.withLock { $0.remove(selection) } }
        // The app's function is called without the lock, because it may call the store.
        let all = table.withLock { table in
            table.removals.note(selection)
            return table.all
        }
        let ids = Set(all.lazy.filter(selection.contains).map(\.id))
        return table.withLock { $0.remove(.entries(ids)) }
    }

    /// Returns how full the store is.
    public func statistics() async -> CacheStatistics {
        table.withLock { $0.statistics }
    }

    fileprivate func grow(_ id: StoredResponse.ID, by count: Int) -> Bool {
        table.withLock { $0.grow(id, by: Int64(count), bodyLimit: bodyLimit) }
    }

    fileprivate func commit(
        _ response: StoredResponse, _ bytes: Data, replacing others: [StoredResponse.ID], since start: Int64
    ) -> Bool {
        table.withLock { $0.commit(response, bytes, replacing: others, since: start) }
    }

    fileprivate func abandon(_ id: StoredResponse.ID) {
        table.withLock { _ = $0.forget(id) }
    }
}

/// Collects the chunks of one body.
private final class MemoryCacheWriter: CacheWriter {
    private let response: StoredResponse
    private let store: MemoryCacheStore
    private let start: Int64
    private let chunks = Locked<[Data]>([])

    init(_ response: StoredResponse, to store: MemoryCacheStore, since start: Int64) {
        self.response = response
        self.store = store
        self.start = start
    }

    deinit { abandon() }

    func append(_ chunk: Data) async -> Bool {
        guard store.grow(response.id, by: chunk.count) else {
            abandon()
            return false
        }
        // A copy: the chunk may be a slice of a large buffer, which it would keep alive.
        let own = chunk.withUnsafeBytes { Data($0) }
        chunks.withLock { $0.append(own) }
        return true
    }

    func commit(replacing others: [StoredResponse.ID]) async -> Bool {
        let chunks = chunks.withLock { chunks in
            defer { chunks = [] }
            return chunks
        }
        guard chunks.count > 1 else {
            return store.commit(response, chunks.first ?? Data(), replacing: others, since: start)
        }
        var body = Data(capacity: chunks.reduce(0) { $0 + $1.count })
        for chunk in chunks { body.append(chunk) }
        return store.commit(response, body, replacing: others, since: start)
    }

    func abandon() {
        chunks.withLock { $0 = [] }
        store.abandon(response.id)
    }
}

private struct MemoryCacheBody: CacheBody {
    let data: Data

    init(_ data: Data) { self.data = data }

    var length: Int64 { Int64(data.count) }
    var bytes: Data? { data }

    func read(from offset: Int64, upTo count: Int) async -> Data {
        guard offset >= 0, offset < Int64(data.count) else { return Data() }
        let start = data.startIndex + Int(offset)
        return data[start..<min(start + max(0, count), data.endIndex)]
    }

    func close() {}
}
