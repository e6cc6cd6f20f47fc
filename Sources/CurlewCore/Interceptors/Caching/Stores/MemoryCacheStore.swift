// SPDX-License-Identifier: MIT

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Responses in the memory of this process, those that were used last.
///
/// Bytes are counted as bodies plus what heads take, about; what is over a limit goes at once, the entries first that
/// were not used for longest. Finding, storing and giving up take the same time however many entries there are. Copies
/// of a client share the store.
///
/// An origin that has more than `originShare` of the limits gives up entries of its own for a new one, so it cannot take the
/// place of all others. On Apple platforms the store gives up half of its entries' bytes when the system warns of too little
/// memory, and all when that becomes critical; elsewhere `relieve(to:)` is for the app to call.
public final class MemoryCacheStore: CacheStore {
    /// The most bytes of all entries together, and of all bodies that are being written.
    public let byteLimit: Int64
    /// The most entries.
    public let entryLimit: Int
    /// The most bytes of one body.
    public let bodyLimit: Int64

    /// False.
    public var isLasting: Bool { false }

    /// The part of both limits that entries of one origin have for certain against other origins, and beyond which they give
    /// way to their like first.
    public let originShare: Double

    private let table: Locked<MemoryCacheTable>

    /// A store with nothing in it. A body may take an eighth of the bytes unless told otherwise.
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

    /// Gives up what was not used for longest, until the entries take no more than these bytes; how many entries that were.
    /// For an app that hears of too little memory. The limits stay.
    @discardableResult
    public func relieve(to bytes: Int64) -> Int {
        table.withLock { $0.relieve(to: bytes) }
    }

    /// What the system's word means for this store.
    func relieve(_ level: MemoryPressure) {
        table.withLock { _ = $0.relieve(to: level.rest(of: $0.statistics.bytes)) }
    }

    /// How many entries were given up since this was asked last.
    public func takeEvictionCount() -> Int {
        table.withLock { $0.takeEvictionCount() }
    }

    /// The entries of a key, the newest first.
    public func find(_ key: CacheKey) async -> CacheFindings {
        findings(for: key)
    }

    /// The same for a caller that need not wait.
    func findings(for key: CacheKey) -> CacheFindings {
        table.withLock { CacheFindings($0.variants(for: key), epoch: CacheEpoch($0.removals.last)) }
    }

    /// The entries of a key, the newest first.
    public func variants(for key: CacheKey) async -> [StoredResponse] {
        table.withLock { $0.variants(for: key) }
    }

    /// The bytes of an entry. They stay, whatever happens to the entry.
    public func body(of response: StoredResponse) async -> (any CacheBody)? {
        bytes(of: response).map(MemoryCacheBody.init)
    }

    /// The same for a caller that need not wait.
    func bytes(of response: StoredResponse) -> Data? {
        table.withLock { $0.use(response) }
    }

    /// Begins an entry, whose body is collected in memory.
    public func write(_ response: StoredResponse, since epoch: CacheEpoch?) async -> any CacheWriter {
        let start = table.withLock { table in
            table.pending[response.id] = 0
            return epoch?.number ?? table.removals.last
        }
        return MemoryCacheWriter(response, to: self, since: start)
    }

    /// Begins an entry that was asked for now.
    public func write(_ response: StoredResponse) async -> any CacheWriter {
        await write(response, since: nil)
    }

    /// Replaces the head of an entry.
    @discardableResult
    public func update(_ response: StoredResponse) async -> Bool {
        table.withLock { $0.update(response) }
    }

    /// Removes entries, and says how many.
    @discardableResult
    public func remove(_ selection: CacheSelection) async -> Int {
        guard case .matching = selection else { return table.withLock { $0.remove(selection) } }
        // The app's function is not called while the lock is held: it may ask the store.
        let all = table.withLock { table in
            table.removals.note(selection)
            return table.all
        }
        let ids = Set(all.lazy.filter(selection.contains).map(\.id))
        return table.withLock { $0.remove(.entries(ids)) }
    }

    /// How full it is.
    public func statistics() async -> CacheStatistics {
        table.withLock { $0.statistics }
    }

    fileprivate func grow(_ id: CacheEntryID, by count: Int) -> Bool {
        table.withLock { $0.grow(id, by: Int64(count), bodyLimit: bodyLimit) }
    }

    fileprivate func commit(
        _ response: StoredResponse, _ bytes: Data, replacing others: [CacheEntryID], since start: Int64
    ) -> Bool {
        table.withLock { $0.commit(response, bytes, replacing: others, since: start) }
    }

    fileprivate func abandon(_ id: CacheEntryID) {
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
        // A copy: what comes may be a small part of a large buffer, which it would keep.
        let own = chunk.withUnsafeBytes { Data($0) }
        chunks.withLock { $0.append(own) }
        return true
    }

    func commit(replacing others: [CacheEntryID]) async -> Bool {
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
