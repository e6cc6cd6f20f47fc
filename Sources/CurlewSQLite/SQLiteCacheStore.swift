// SPDX-License-Identifier: MIT

public import CurlewCaching
public import CurlewCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A persistent cache store: a SQLite database that several processes may use concurrently.
///
///     let store = SQLiteCacheStore(path: cachesFolder + "/http.sqlite")
///
/// - The file is opened by the first operation, on a thread of the store. Creating a store does no I/O and never fails.
/// - An entry becomes visible when its commit is complete, as a whole or not at all, even if the process or the system
///   crashes. The last commits may be lost in a power failure.
/// - Bodies of up to 64 KiB are stored in the database, larger ones in files of the folder `<path>-bodies`. All files
///   are readable for their owner only, and are not encrypted.
/// - Responses that belong to an API key, a password, a cookie or an unknown field are stored under its keyed hash. The
///   key is in the file `<path>-key`, readable for its owner only.
/// - The limits apply to all processes together. The least recently used entries are evicted. Recent uses are written
///   after at most two seconds, and may be lost if the process ends.
/// - A damaged file is renamed to `<path>.damaged` and reported, and a new one is created. A file of a newer version or
///   of another program is not changed: every operation throws. A file of an older version is emptied.
/// - Every failure is a `NetworkError` with reason `.storage`; a full disk is reported as well. Waiting for other
///   processes ends after five seconds.
///
/// Do not use this store for files on a network share, where SQLite cannot lock. Do not use it in the container of an
/// app group either: iOS terminates an app with `0xdead10cc` if it is suspended while it holds a lock on a file there,
/// and the store locks the database and the body files while it writes. Keep the store in the app's own caches folder,
/// and a separate one for each extension. If it has to be shared, end the calls within a background task before the app
/// is suspended. A store must not be used after `fork()`.
public final class SQLiteCacheStore: CacheStore {
    /// An event that concerns the store as a whole. Later versions may add cases.
    @nonexhaustive
    public enum Notice: Sendable, CustomStringConvertible {
        /// The file was damaged. It is kept under this path, and the store uses a new file.
        case setAside(String)
        /// The file belongs to a newer version or to another program; every operation throws.
        case unusable(NetworkError)
        /// The disk is full. Reported once, until a write succeeds again.
        case full(NetworkError)

        /// One sentence for developers.
        public var description: String {
            switch self {
            case .setAside(let path): "The cache was damaged and starts empty; the old file is \(path)."
            case .unusable(let error): "The cache cannot be used. \(error.detail)"
            case .full(let error): "The cache stores no further responses. \(error.detail)"
            }
        }
    }

    /// The path of the database.
    public let path: String
    /// The maximum number of bytes of all entries together, as disk space, and of all bodies that are being written.
    public let byteLimit: Int64
    /// The maximum number of entries.
    public let entryLimit: Int
    /// The maximum number of bytes of one body.
    public let bodyLimit: Int64

    let folder: BodyFolder
    let queue: DatabaseQueue
    private let counters = Locked(CacheStatistics())
    private let untoldEvictions = Locked(0)
    private let pendingBytes = Locked<Int64>(0)
    /// Nil until the key has been requested.
    private let key = Locked<Data??>(nil)
    /// Increases when this process has changed something: bodies that were read before may have been removed. It
    /// begins at a random number, so that a lookup in one store is not taken for a lookup in another.
    private let changes = Locked(Int.random(in: 0 ... .max / 2))

    /// The maximum size of a body that is stored in the database.
    static let insideLimit = 64 * 1024

    /// Creates a store at `path`, an absolute path. Its folder is created if necessary.
    ///
    /// - `bodyLimit`: the maximum number of bytes of one body. Default one eighth of `byteLimit`.
    /// - `report`: receives notices on the store's thread. The default writes a line to standard error.
    public init(
        path: String, byteLimit: Int64 = 256 << 20, entryLimit: Int = 100_000, bodyLimit: Int64? = nil,
        report: @escaping @Sendable (Notice) -> Void = SQLiteCacheStore.standardError
    ) {
        self.path = path
        self.byteLimit = max(0, byteLimit)
        self.entryLimit = max(0, entryLimit)
        self.bodyLimit = min(bodyLimit ?? self.byteLimit / 8, self.byteLimit)
        folder = BodyFolder(path: path + "-bodies")
        queue = DatabaseQueue(
            Database(
                path: path, folder: folder, bytes: self.byteLimit, entries: self.entryLimit, report: report),
            reader: Reader(path: path, bytes: self.byteLimit, entries: self.entryLimit))
    }

    /// Writes a notice to standard error.
    public static let standardError: @Sendable (Notice) -> Void = { notice in
        StandardError.write("\(notice)\n")
    }

    /// True: entries outlive the process.
    public var isLasting: Bool { true }

    /// The key in the file `<path>-key`, which is created on first use; nil if that is not possible.
    public var principalKey: Data? {
        key.withLock { key in
            if let known = key { return known }
            makeFolder()
            let made = StoreKey.at(path + "-key")
            key = .some(made)
            return made
        }
    }

    private func makeFolder() {
        BodyFolder.makeParents(of: path)
    }

    /// Returns the entries of a key, newest first, and the store's epoch. Waits for no change, in this process or
    /// another.
    public func find(_ key: CacheKey) async throws -> CacheFindings {
        try await queue.lookUp { [changes] table in
            let change = changes.withLock { $0 }
            // Read before the entries, so that a removal between the two reads counts as a later one.
            let epoch = try RemovalLog(table.connection).last
            var variants = try table.variants(for: key)
            // Most keys have one entry, and most lookups use it. Reading a small body here saves a second wait for the
            // disk's thread, which would cost as much as the rest of the lookup.
            if let first = variants.first, first.bodyLength <= Self.insideLimit {
                let found = try table.find(first.id)
                variants[0].hint = StoreHint(mark: change, bytes: found?.bytes)
            }
            return CacheFindings(variants, epoch: CacheFindings.Epoch(epoch))
        }
    }

    /// Opens the body of an entry: a small body is in memory, a larger one is read from its file.
    public func body(of response: StoredResponse) async throws -> (any CacheBody)? {
        if let hint = response.hint, let bytes = hint.bytes, hint.mark == changes.withLock({ $0 }) {
            queue.recordUse(of: response.id)
            counters.withLock { $0.hits += 1 }
            return SQLiteCacheBody(bytes)
        }
        let (body, isThere) = try await queue.lookUp { [folder] table -> (SQLiteCacheBody?, isThere: Bool) in
            guard let found = try table.find(response.id) else { return (nil, false) }
            if let bytes = found.bytes { return (SQLiteCacheBody(bytes), true) }
            return (
                folder.open(response.id, length: found.length).map { SQLiteCacheBody($0, length: found.length) }, true
            )
        }
        guard let body else {
            // The file was removed, or truncated by a power failure.
            if isThere { try await queue.run { try $0.forget(response.id) } }
            return nil
        }
        queue.recordUse(of: response.id)
        counters.withLock { $0.hits += 1 }
        return body.reading(by: queue)
    }

    /// Begins an entry.
    public func write(_ response: StoredResponse, since epoch: CacheFindings.Epoch?) async throws -> any CacheWriter {
        var start = epoch?.number ?? 0
        if epoch == nil { start = try await queue.run { try RemovalLog($0.connection).last } }
        return SQLiteCacheWriter(response, to: self, since: start)
    }

    /// Replaces the head of an entry.
    @discardableResult
    public func update(_ response: StoredResponse) async throws -> Bool {
        finish(try await queue.run { try $0.update(response) })
    }

    /// Removes entries, and returns their number.
    @discardableResult
    public func remove(_ selection: CacheRemoval) async throws -> Int {
        if case .matching(let matches) = selection { return try await remove(where: matches) }
        let (count, change) = try await queue.run { try $0.remove(selection) }
        _ = finish(change)
        return count
    }

    /// Returns how full the store is.
    public func statistics() async throws -> CacheStatistics {
        let totals = try await queue.run { try $0.totals }
        var result = counters.withLock { $0 }
        result.entries = totals.entries
        result.bytes = totals.bytes
        return result
    }

    /// Removes the entries that `matches` selects, and returns their number. Runs `matches`, a function of the app, on
    /// the caller's task and outside of transactions.
    private func remove(where matches: @Sendable (StoredResponse) -> Bool) async throws -> Int {
        _ = try await queue.run { try $0.remove(.matching { _ in false }) }
        var last: Int64 = 0
        var count = 0
        while true {
            let page = try await queue.run { [last] in try $0.heads(after: last, count: 500) }
            guard let end = page.last?.seq else { return count }
            last = end
            let ids = Set(page.lazy.compactMap(\.head).filter(matches).map(\.id))
            if !ids.isEmpty { count += try await remove(.entries(ids)) }
        }
    }

    // MARK: For writers

    /// Reserves space for bytes that are being written. Returns false if there is none.
    func reserve(_ count: Int64) -> Bool {
        pendingBytes.withLock { pending in
            guard pending + count <= byteLimit else { return false }
            pending += count
            return true
        }
    }

    func release(_ count: Int64) {
        pendingBytes.withLock { $0 -= count }
    }

    func commit(
        _ response: StoredResponse, _ body: CacheTable.Body, replacing others: [StoredResponse.ID], since start: Int64
    ) async throws -> Bool {
        let change = try await queue.run { try $0.commit(response, body, replacing: others, since: start) }
        if change.isDone { counters.withLock { $0.stored += 1 } }
        return finish(change)
    }

    /// Returns the number of entries that this process has evicted since the previous call.
    public func takeEvictionCount() -> Int {
        untoldEvictions.withLock { count in
            defer { count = 0 }
            return count
        }
    }

    private func finish(_ change: CacheTable.Change) -> Bool {
        changes.withLock { $0 &+= 1 }
        if change.evicted > 0 {
            counters.withLock { $0.evicted += Int64(change.evicted) }
            untoldEvictions.withLock { $0 += change.evicted }
        }
        if !change.files.isEmpty {
            queue.later { [folder] in for id in change.files { folder.remove(id) } }
        }
        return change.isDone
    }
}

extension SQLiteCacheStore: CustomStringConvertible, CustomReflectable {
    /// `SQLiteCacheStore(path)`
    public var description: String { "SQLiteCacheStore(\(path))" }

    /// Shows only the description, also in debuggers and `dump`, because the store contains the key of the principals.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
