// SPDX-License-Identifier: MIT

public import CurlewCaching
public import CurlewCore
public import CurlewFoundation
public import CurlewHTTP

extension HTTPCache {
    /// A persistent cache store in a SQLite database that several processes may use concurrently.
    ///
    ///     let store = HTTPCache.SQLiteStore(path: cachesFolder + "/http.sqlite")
    ///
    /// - The first operation opens the file, on a thread of the store. Creating a store does no I/O and never fails.
    /// - An entry becomes visible completely, when its commit ends, or not at all, even if the process or the system
    ///   crashes. A power failure may lose the last commits.
    /// - Bodies of up to 64 KiB are stored in the database, larger ones as files in the folder `<path>-bodies`. All
    ///   files are readable for their owner only, and are not encrypted.
    /// - Responses to requests with an API key, a password, a cookie or an unknown field are stored under a keyed hash
    ///   of that value. The secret of the hash is in the file `<path>-key`, readable for its owner only.
    /// - The limits apply to all processes together. The least recently used entries are evicted. Uses are written
    ///   after at most two seconds, and the last ones may be lost if the process ends.
    /// - A damaged response is never returned: each has a checksum, which is checked before its first byte is used. A
    ///   damaged entry is removed and reported. If the file as a whole is damaged, it is renamed to `<path>.damaged`
    ///   and reported, and a new one is created. A file of a newer version or of another program is not changed: every
    ///   operation throws. A file of an older version is emptied.
    /// - Every failure is a `NetworkError` with reason `.storage`; a full disk is also reported. An operation waits at
    ///   most five seconds for other processes. For the next five seconds, changes then fail immediately.
    ///
    /// Do not use this store for files on a network share, where SQLite cannot lock. Do not use it in the container of
    /// an app group either: the store locks the database and the body files while it writes, and iOS terminates an app
    /// with `0xdead10cc` if it is suspended while it holds a lock on a file there. Keep the store in the app's own
    /// caches folder, and use a separate store for each extension. If the store has to be shared, end the calls within
    /// a background task before the app is suspended. A store must not be used after `fork()`.
    public final class SQLiteStore: HTTPCache.Store {
        /// An event that concerns the store as a unit, not a single call. Later versions may add cases.
        @nonexhaustive
        public enum Notice: Sendable, CustomStringConvertible {
            /// The database was damaged. Its file was renamed to this path, and the store uses a new file.
            case setAside(String)
            /// A stored response with this key was damaged and has been removed.
            case removed(HTTPCache.Entry.Key)
            /// The file belongs to a newer version or to another program. Every operation throws this error.
            case unusable(NetworkError)
            /// The disk is full. Reported once, until an operation succeeds again.
            case full(NetworkError)

            /// A message for developers.
            public var description: String {
                switch self {
                case .setAside(let path): "The cache was damaged and starts empty; the old file is \(path)."
                case .removed(let key): "A stored response was damaged and has been removed: \(key)."
                case .unusable(let error): "The cache cannot be used. \(error.detail)"
                case .full(let error): "The cache stores no further responses. \(error.detail)"
                }
            }
        }

        /// The path of the database file.
        public let path: String
        /// The maximum number of bytes of all entries together, as estimated disk space. The bodies that this store is
        /// writing have a separate limit of the same size. Default 256 MiB.
        public let byteLimit: Int64
        /// The maximum number of entries. Default 100,000.
        public let entryLimit: Int
        /// The maximum number of bytes of one body; never more than `byteLimit`. Default one eighth of `byteLimit`.
        public let bodyLimit: Int64

        let folder: BodyFolder
        let queue: DatabaseQueue
        private let report: @Sendable (Notice) -> Void
        private let counters = Locked(HTTPCache.Statistics())
        private let unreportedEvictions = Locked(0)
        private let pendingBytes = Locked<Int64>(0)
        /// The result of reading the key; nil until the key has been requested.
        private let key = Locked<Data??>(nil)
        /// A counter that increases when this store has changed something. A body that was read with a lookup is used
        /// only if the counter has not changed since. It begins at a random number, so that a lookup in one store is
        /// not taken for a lookup in another.
        private let changes = Locked(Int.random(in: 0 ... .max / 2))

        /// The maximum size of a body that is stored in the database, in bytes.
        static let insideLimit = 64 * 1024
        /// The maximum number of bytes to check before other work may use the file thread.
        private static let maximumChecked: Int64 = 4 << 20

        /// Creates a store at `path`, an absolute path. The first operation creates missing folders. A negative limit
        /// counts as 0.
        ///
        /// - `bodyLimit`: the maximum number of bytes of one body. Default one eighth of `byteLimit`.
        /// - `report`: receives notices, on a thread of the store. The default writes a line to standard error.
        public init(
            path: String, byteLimit: Int64 = 256 << 20, entryLimit: Int = 100_000, bodyLimit: Int64? = nil,
            report: @escaping @Sendable (Notice) -> Void = HTTPCache.SQLiteStore.standardError
        ) {
            self.path = path
            self.byteLimit = max(0, byteLimit)
            self.entryLimit = max(0, entryLimit)
            self.bodyLimit = min(max(0, bodyLimit ?? self.byteLimit / 8), self.byteLimit)
            self.report = report
            folder = BodyFolder(path: path + "-bodies")
            queue = DatabaseQueue(
                Database(
                    path: path, folder: folder, bytes: self.byteLimit, entries: self.entryLimit, report: report),
                reader: Reader(path: path, bytes: self.byteLimit, entries: self.entryLimit))
        }

        /// Writes a notice as a line to standard error.
        public static let standardError: @Sendable (Notice) -> Void = { notice in
            _ = Data("\(notice)\n".utf8).withUnsafeBytes { PrivateFile.write($0, to: STDERR_FILENO) }
        }

        /// True: entries outlive the process.
        public var isLasting: Bool { true }

        /// The secret in the file `<path>-key`, with which credentials are hashed for the keys of entries. The file is
        /// created on first use. Nil if it cannot be created or read.
        public var principalKey: Data? {
            key.withLock { key in
                if let known = key { return known }
                BodyFolder.makeParents(of: path)
                let made = StoreKey.at(path + "-key")
                key = .some(made)
                return made
            }
        }

        /// Returns the entries of a key, newest first, and the store's epoch. After the first operation, a lookup waits
        /// for no change, in this process or another.
        public func find(_ key: HTTPCache.Entry.Key) async throws -> HTTPCache.Entry.Lookup {
            let change = changes.withLock { $0 }
            let (epoch, found, first) = try await queue.read { table in
                // The epoch is read before the entries, so that a removal between the two reads counts as a later one.
                let epoch = HTTPCache.Entry.Lookup.Epoch(try RemovalLog(table.connection).last)
                let found = try table.variants(for: key)
                // Most keys have one entry, and most lookups use it. Reading a small body here saves a second wait for
                // the thread of lookups, which would take as long as the rest of the lookup.
                let first = try found.intact.first.flatMap {
                    $0.bodyLength <= Self.insideLimit ? try table.find($0.id) : nil
                }
                return (epoch, found, first)
            }
            var (variants, damaged) = found
            if let first, let bytes = first.body.bytes {
                if Checksum.of(bytes, seed: variants[0].id.number) == first.body.sum {
                    variants[0].hint = StoreHint(mark: change, bytes: bytes)
                } else {
                    damaged.append(first.seq)
                    variants.removeFirst()
                }
            }
            if !damaged.isEmpty { await remove(damaged: damaged, key) }
            return HTTPCache.Entry.Lookup(variants, epoch: epoch)
        }

        /// Opens the body of an entry; nil if the entry no longer exists. Opening a body counts as a use of its entry.
        /// A body of up to 1 MiB is in memory. A larger one is read from its file, once here to be checked, and then
        /// again.
        public func body(of response: HTTPCache.Entry) async throws -> (any HTTPCache.Entry.Body)? {
            if let hint = response.hint, let bytes = hint.bytes, hint.mark == changes.withLock({ $0 }) {
                queue.recordUse(of: response.id)
                counters.withLock { $0.hits += 1 }
                return SQLiteCacheBody(bytes)
            }
            let (found, file) = try await queue.read { [folder] table in
                let found = try table.find(response.id)
                let length = found.flatMap { $0.body.bytes == nil ? $0.body.length : nil }
                return (found, length.flatMap { folder.open(response.id, length: $0) })
            }
            guard let found else { return nil }
            guard let body = try await checked(found.body, file, of: response.id) else {
                await remove(damaged: [found.seq], response.key)
                return nil
            }
            queue.recordUse(of: response.id)
            counters.withLock { $0.hits += 1 }
            return body
        }

        /// Returns a body, in memory or in its file, after its checksum was verified; nil if it is damaged.
        private func checked(
            _ found: CacheTable.Body, _ file: BodyFile?, of id: HTTPCache.Entry.ID
        ) async throws -> SQLiteCacheBody? {
            if let file, found.bytes == nil, found.length > Int64(SQLiteCacheBody.maximumRead) {
                var (sum, offset) = (Checksum(seed: id.number), Int64(0))
                while offset < found.length {
                    let count = min(found.length - offset, Self.maximumChecked)
                    let next = try await queue.withFiles { [sum, offset] in try file.adding(offset, count, to: sum) }
                    guard let next else { return nil }
                    (sum, offset) = (next, offset + count)
                }
                return sum.value == found.sum ? SQLiteCacheBody(file, length: found.length, queue: queue) : nil
            }
            var bytes = found.bytes
            if bytes == nil, let file {
                bytes = try await queue.withFiles { try file.read(from: 0, upTo: Int(found.length)) }
            }
            guard let bytes, Checksum.of(bytes, seed: id.number) == found.sum else { return nil }
            return SQLiteCacheBody(bytes)
        }

        /// Removes damaged rows. Reports this if they were still there: a body file also vanishes with its entry. If
        /// the removal fails, the next lookup finds the damage again.
        private func remove(damaged rows: [Int64], _ key: HTTPCache.Entry.Key) async {
            let change = try? await queue.run { [report] table in
                let change = try table.remove(rows: rows)
                if change.isDone { report(.removed(key)) }
                return change
            }
            if let change { _ = finish(change) }
        }

        /// Begins to write an entry. Its body is in memory up to 64 KiB, and in a file above that.
        public func write(_ response: HTTPCache.Entry, since epoch: HTTPCache.Entry.Lookup.Epoch?) async throws
            -> any HTTPCache.Entry.Writer
        {
            var start = epoch?.number ?? 0
            if epoch == nil { start = try await queue.run { try RemovalLog($0.connection).last } }
            return SQLiteCacheWriter(response, to: self, since: start)
        }

        /// Replaces the head of an entry. Returns false if the entry no longer exists.
        @discardableResult
        public func update(_ response: HTTPCache.Entry) async throws -> Bool {
            finish(try await queue.run { try $0.update(response) })
        }

        /// Removes the entries in `selection`, and returns their number.
        @discardableResult
        public func remove(_ selection: HTTPCache.Removal) async throws -> Int {
            if case .matching(let matches) = selection { return try await remove(where: matches) }
            let (count, change) = try await queue.run { try $0.remove(selection) }
            _ = finish(change)
            return count
        }

        /// Returns the size of the store, for all processes together, and the counters of this store object.
        public func statistics() async throws -> HTTPCache.Statistics {
            let totals = try await queue.run { try $0.totals }
            var result = counters.withLock { $0 }
            result.entries = totals.entries
            result.bytes = totals.bytes
            return result
        }

        /// Removes the entries for which `matches` returns true, and returns their number. Runs `matches`, a function
        /// of the app, on the caller's task and outside of transactions.
        private func remove(where matches: @Sendable (HTTPCache.Entry) -> Bool) async throws -> Int {
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

        /// Reserves space for bytes that are being written. Returns false if that exceeds `byteLimit`.
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
            _ response: HTTPCache.Entry, _ body: CacheTable.Body, replacing others: [HTTPCache.Entry.ID],
            since start: Int64
        ) async throws -> Bool {
            let change = try await queue.run { try $0.commit(response, body, replacing: others, since: start) }
            if change.isDone { counters.withLock { $0.stored += 1 } }
            return finish(change)
        }

        /// Returns the number of entries that this store object has evicted since the previous call.
        public func takeEvictionCount() -> Int {
            unreportedEvictions.withLock { count in
                defer { count = 0 }
                return count
            }
        }

        private func finish(_ change: CacheTable.Change) -> Bool {
            changes.withLock { $0 &+= 1 }
            if change.evicted > 0 {
                counters.withLock { $0.evicted += Int64(change.evicted) }
                unreportedEvictions.withLock { $0 += change.evicted }
            }
            if !change.files.isEmpty {
                queue.later { [folder] in for id in change.files { folder.remove(id) } }
            }
            return change.isDone
        }
    }
}

extension HTTPCache.SQLiteStore: MirroredByDescription {
    /// The type and the path of the database: `HTTPCache.SQLiteStore(path)`.
    public var description: String { "HTTPCache.SQLiteStore(\(path))" }
}
