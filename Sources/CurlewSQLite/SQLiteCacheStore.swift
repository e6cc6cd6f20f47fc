// SPDX-License-Identifier: MIT

public import CurlewCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Responses on the disk, in a SQLite database that several processes may use at once.
///
///     let store = SQLiteCacheStore(path: cachesFolder + "/http.sqlite")
///
/// - The file is opened with the first use, on a thread of the store; making a store costs nothing and never fails.
/// - An entry is visible when its commit is done, whole or not at all, whenever the process or the system ends. What was
///   committed last may be lost when the power fails.
/// - Bodies of up to 64 KiB stand in the database, larger ones in files of the folder `<path>-bodies`. All of it is
///   readable for its owner only, and not encrypted.
/// - What belongs to an API key, a password, a cookie or an unknown field is kept under its keyed hash: the key is in the
///   file `<path>-key`, readable for its owner only.
/// - The limits hold for all processes together. Given up is what was not used for longest; what was used last is written
///   down after two seconds at most, and may be lost with the process.
/// - A damaged file is renamed to `<path>.damaged`, reported, and a new one begun. A file of a newer version, or of
///   something else, stays as it is: every operation throws. One of an older version is emptied.
/// - Every failure is a `NetworkError` with reason `.storage`; a full disk is reported as well. Waiting for other
///   processes ends after five seconds.
///
/// Not for files on a network share, where SQLite cannot lock. Not for the container of an app group either: iOS ends an
/// app with `0xdead10cc` that holds a lock on a file there when it is suspended, and SQLite and the files of bodies are
/// locked while something is written. Keep the store in the app's own caches folder, with one for each extension; if it
/// has to be shared, end the calls within a background task before the app is suspended. A store must not be used on
/// after `fork()`.
public final class SQLiteCacheStore: CacheStore {
    /// What happened to the store as a whole. Later versions may add cases.
    @nonexhaustive
    public enum Notice: Sendable, CustomStringConvertible {
        /// The file was damaged. It is kept under this path, and the store has begun anew.
        case setAside(String)
        /// The file belongs to a newer version or to something else; the store does nothing.
        case unusable(NetworkError)
        /// The disk is full. Told once, until something can be written again.
        case full(NetworkError)

        /// One sentence for the developer.
        public var description: String {
            switch self {
            case .setAside(let path): "The cache was damaged: it begins anew, and the old file is \(path)."
            case .unusable(let error): "The cache cannot be used. \(error.detail)"
            case .full(let error): "The cache keeps nothing more. \(error.detail)"
            }
        }
    }

    /// Where the database is.
    public let path: String
    /// The most bytes of all entries together, as they take room on the disk, and of all bodies that are being written.
    public let byteLimit: Int64
    /// The most entries.
    public let entryLimit: Int
    /// The most bytes of one body.
    public let bodyLimit: Int64

    let folder: BodyFolder
    let worker: Worker
    private let counters = Locked(CacheStatistics())
    private let untoldEvictions = Locked(0)
    private let pendingBytes = Locked<Int64>(0)
    /// Nil before it was asked for.
    private let key = Locked<Data??>(nil)
    /// Goes up when this process has changed something: bodies that were read before may be gone. Begins anywhere, so that
    /// what was found in one store is not taken for something that another one has found.
    private let changes = Locked(Int.random(in: 0 ... .max / 2))

    /// The most bytes of a body that stands in the database.
    static let insideLimit = 64 * 1024

    /// A store at `path`, an absolute path; its folder is made if it is not there.
    ///
    /// - `bodyLimit`: an eighth of the bytes unless told otherwise.
    /// - `report`: told on the store's thread; by default a line on standard error.
    public init(
        path: String, byteLimit: Int64 = 256 << 20, entryLimit: Int = 100_000, bodyLimit: Int64? = nil,
        report: @escaping @Sendable (Notice) -> Void = SQLiteCacheStore.standardError
    ) {
        self.path = path
        self.byteLimit = max(0, byteLimit)
        self.entryLimit = max(0, entryLimit)
        self.bodyLimit = min(bodyLimit ?? self.byteLimit / 8, self.byteLimit)
        folder = BodyFolder(path: path + "-bodies")
        worker = Worker(
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

    /// The key in the file `<path>-key`, which is made with the first use; nil if that is not possible.
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

    /// The entries of a key, the newest first. Waits for no change, of this process or another.
    public func find(_ key: CacheKey) async throws -> CacheFindings {
        try await worker.look { [changes] table in
            let change = changes.withLock { $0 }
            // Before the entries: a removal between the two counts as one that came later.
            let epoch = try Removals(table.connection).last
            var variants = try table.variants(for: key)
            // Most keys have one entry, and most lookups use it: a second wait for the disk's thread would cost as much
            // as all the rest.
            if let first = variants.first, first.bodyLength <= Self.insideLimit {
                let found = try table.find(first.id)
                variants[0].hint = StoreHint(mark: change, bytes: found?.bytes)
            }
            return CacheFindings(variants, epoch: CacheEpoch(epoch))
        }
    }

    /// Opens the body of an entry: a small one is in memory then, a larger one is read from its file.
    public func body(of response: StoredResponse) async throws -> (any CacheBody)? {
        if let hint = response.hint, let bytes = hint.bytes, hint.mark == changes.withLock({ $0 }) {
            worker.noteUse(of: response.id)
            counters.withLock { $0.hits += 1 }
            return SQLiteCacheBody(bytes)
        }
        let (body, isThere) = try await worker.look { [folder] table -> (SQLiteCacheBody?, isThere: Bool) in
            guard let found = try table.find(response.id) else { return (nil, false) }
            if let bytes = found.bytes { return (SQLiteCacheBody(bytes), true) }
            return (
                folder.open(response.id, length: found.length).map { SQLiteCacheBody($0, length: found.length) }, true
            )
        }
        guard let body else {
            // The file is gone, or was cut off when the power failed.
            if isThere { try await worker.run { try $0.forget(response.id) } }
            return nil
        }
        worker.noteUse(of: response.id)
        counters.withLock { $0.hits += 1 }
        return body.reading(by: worker)
    }

    /// Begins an entry.
    public func write(_ response: StoredResponse, since epoch: CacheEpoch?) async throws -> any CacheWriter {
        var start = epoch?.number ?? 0
        if epoch == nil { start = try await worker.run { try Removals($0.connection).last } }
        return SQLiteCacheWriter(response, to: self, since: start)
    }

    /// Replaces the head of an entry.
    @discardableResult
    public func update(_ response: StoredResponse) async throws -> Bool {
        finish(try await worker.run { try $0.update(response) })
    }

    /// Removes entries, and says how many.
    @discardableResult
    public func remove(_ selection: CacheSelection) async throws -> Int {
        if case .matching(let matches) = selection { return try await remove(where: matches) }
        let (count, change) = try await worker.run { try $0.remove(selection) }
        _ = finish(change)
        return count
    }

    /// How full it is.
    public func statistics() async throws -> CacheStatistics {
        let totals = try await worker.run { try $0.totals }
        var result = counters.withLock { $0 }
        result.entries = totals.entries
        result.bytes = totals.bytes
        return result
    }

    /// The app's function runs on the caller's task, and between transactions.
    private func remove(where matches: @Sendable (StoredResponse) -> Bool) async throws -> Int {
        _ = try await worker.run { try $0.remove(.matching { _ in false }) }
        var last: Int64 = 0
        var count = 0
        while true {
            let page = try await worker.run { [last] in try $0.heads(after: last, count: 500) }
            guard let end = page.last?.seq else { return count }
            last = end
            let ids = Set(page.lazy.compactMap(\.head).filter(matches).map(\.id))
            if !ids.isEmpty { count += try await remove(.entries(ids)) }
        }
    }

    // MARK: For writers

    /// Makes room for bytes that are being written. False if there is none.
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
        _ response: StoredResponse, _ body: CacheTable.Body, replacing others: [CacheEntryID], since start: Int64
    ) async throws -> Bool {
        let change = try await worker.run { try $0.commit(response, body, replacing: others, since: start) }
        if change.isDone { counters.withLock { $0.stored += 1 } }
        return finish(change)
    }

    /// How many entries this process has given up since this was asked last.
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
            worker.later { [folder] in for id in change.files { folder.remove(id) } }
        }
        return change.isDone
    }
}

extension SQLiteCacheStore: CustomStringConvertible, CustomReflectable {
    /// `SQLiteCacheStore(path)`
    public var description: String { "SQLiteCacheStore(\(path))" }

    /// Shows the description only, to debuggers and `dump` too: the key of the principals is inside.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
