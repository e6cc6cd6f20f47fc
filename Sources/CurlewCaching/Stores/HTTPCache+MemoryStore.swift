// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation

extension HTTPCache {
    /// A cache store that keeps the most recently used responses in the memory of this process.
    ///
    /// The size of an entry is the size of its body plus an estimate for its head. When a limit is exceeded, the least
    /// recently used entries are evicted immediately. The time to find, store or evict an entry does not depend on the
    /// number of entries. Copies of a client share the store.
    ///
    /// On Apple platforms the store evicts half of its bytes when the system warns of low memory, and all of them when
    /// memory is critically low; on other platforms the app can call `trim(to:)`.
    public final class MemoryStore: HTTPCache.Store {
        /// The maximum number of bytes of all entries together. The bodies that are being written have a separate limit
        /// of the same size. Default 64 MiB.
        let byteLimit: Int64
        /// The maximum number of entries. Default 10,000.
        let entryLimit: Int
        /// The maximum number of bytes of one body; never more than `byteLimit`. Default one eighth of `byteLimit`.
        public let bodyLimit: Int64

        /// False: entries end with the process.
        public var isLasting: Bool { false }

        private let table: Locked<MemoryCacheTable>

        /// Creates an empty store. `byteLimit` is the maximum of all heads and bodies in bytes, `entryLimit` of their
        /// number, `bodyLimit` of one body: at most `byteLimit`, by default an eighth. A negative limit counts as 0.
        public init(byteLimit: Int64 = 64 << 20, entryLimit: Int = 10_000, bodyLimit: Int64? = nil) {
            self.byteLimit = max(0, byteLimit)
            self.entryLimit = max(0, entryLimit)
            self.bodyLimit = min(max(0, bodyLimit ?? self.byteLimit / 8), self.byteLimit)
            table = Locked(MemoryCacheTable(byteLimit: self.byteLimit, entryLimit: self.entryLimit))
            #if canImport(Security)
            MemoryPressure.watch { [weak self] level in
                self?.trim(level)
                return self != nil
            }
            #endif
        }

        /// Evicts the least recently used entries until the remaining entries use at most `bytes` bytes, and returns
        /// the number of evicted entries. Call it when the app is notified of low memory. The limits do not change.
        @discardableResult
        public func trim(to bytes: Int64) -> Int {
            table.withLock { $0.trim(to: bytes) }
        }

        /// Evicts entries in response to a memory warning from the system.
        func trim(_ level: MemoryPressure) {
            table.withLock { _ = $0.trim(to: level.remainder(of: $0.statistics.bytes)) }
        }

        /// Returns the number of entries evicted since the previous call, including those that `trim(to:)` evicted.
        public func takeEvictionCount() -> Int {
            table.withLock { $0.takeEvictionCount() }
        }

        /// Returns the entries of a key, newest first, and the store's epoch.
        public func find(_ key: HTTPCache.Entry.Key) async -> HTTPCache.Entry.Lookup {
            findings(for: key)
        }

        /// Returns the entries of a key, newest first, and the store's epoch, without suspending.
        func findings(for key: HTTPCache.Entry.Key) -> HTTPCache.Entry.Lookup {
            table.withLock {
                HTTPCache.Entry.Lookup($0.variants(for: key), epoch: HTTPCache.Entry.Lookup.Epoch($0.removals.last))
            }
        }

        /// Returns the body of an entry; nil if the entry no longer exists. The call counts as a use of the entry. The
        /// bytes stay valid after the entry is removed.
        public func body(of response: HTTPCache.Entry) async -> (any HTTPCache.Entry.Body)? {
            bytes(of: response).map(MemoryCacheBody.init)
        }

        /// Returns the body of an entry as bytes, without suspending.
        func bytes(of response: HTTPCache.Entry) -> Data? {
            table.withLock { $0.use(response) }
        }

        /// Begins to write an entry. Its body is collected in memory.
        public func write(_ response: HTTPCache.Entry, since epoch: HTTPCache.Entry.Lookup.Epoch?) async
            -> any HTTPCache.Entry
            .Writer
        {
            let start = table.withLock { table in
                table.pending[response.id] = 0
                return epoch?.number ?? table.removals.last
            }
            return MemoryCacheWriter(response, to: self, since: start)
        }

        /// Replaces the head of an entry. Returns false if the entry no longer exists.
        @discardableResult
        public func update(_ response: HTTPCache.Entry) async -> Bool {
            table.withLock { $0.update(response) }
        }

        /// Removes the entries in `selection`, and returns their number.
        @discardableResult
        public func remove(_ selection: HTTPCache.Removal) async -> Int {
            guard case .matching = selection else { return table.withLock { $0.remove(selection) } }
            // The app's function is called without the lock, because the function may call the store.
            let all = table.withLock { table in
                table.removals.note(selection)
                return table.all
            }
            let ids = Set(all.filter(selection.contains).map(\.id))
            return table.withLock { $0.remove(.entries(ids)) }
        }

        /// Returns the size of the store and its counters.
        public func statistics() async -> HTTPCache.Statistics {
            table.withLock { $0.statistics }
        }

        fileprivate func grow(_ id: HTTPCache.Entry.ID, by count: Int) -> Bool {
            table.withLock { $0.grow(id, by: Int64(count), bodyLimit: bodyLimit) }
        }

        fileprivate func commit(
            _ response: HTTPCache.Entry, _ bytes: Data, replacing others: [HTTPCache.Entry.ID], since start: Int64
        ) -> Bool {
            table.withLock { $0.commit(response, bytes, replacing: others, since: start) }
        }

        fileprivate func abandon(_ id: HTTPCache.Entry.ID) {
            table.withLock { _ = $0.forget(id) }
        }
    }
}

/// Writes one entry. Collects the chunks of the body in memory until `commit`.
private final class MemoryCacheWriter: HTTPCache.Entry.Writer {
    private let response: HTTPCache.Entry
    private let store: HTTPCache.MemoryStore
    private let start: Int64
    private let chunks = Locked<[Data]>([])

    init(_ response: HTTPCache.Entry, to store: HTTPCache.MemoryStore, since start: Int64) {
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
        // A chunk may be a slice that would keep a large buffer in memory.
        let own = chunk.withUnsafeBytes { Data($0) }
        chunks.withLock { $0.append(own) }
        return true
    }

    func commit(replacing others: [HTTPCache.Entry.ID]) async -> Bool {
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

private struct MemoryCacheBody: HTTPCache.Entry.Body {
    let data: Data

    init(_ data: Data) { self.data = data }

    var length: Int64 { Int64(data.count) }
    var bytes: Data? { data }

    func read(from offset: Int64, upTo count: Int) async -> Data {
        guard offset >= 0, offset < Int64(data.count) else { return Data() }
        return data[(data.startIndex + Int(offset))...].prefix(max(0, count))
    }

    func close() {}
}
