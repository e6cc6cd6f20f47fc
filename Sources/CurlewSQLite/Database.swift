// SPDX-License-Identifier: MIT

import CurlewCaching
import CurlewCore
import CurlewFoundation

/// The database file. The first operation opens it. A damaged file is renamed, and a new one is created.
struct Database {
    private enum State {
        case closed
        case open(CacheTable)
        /// Refused permanently: the file belongs to a newer version or is not a cache.
        case refused(NetworkError)
    }

    let path: String
    let folder: BodyFolder
    private let limits: (bytes: Int64, entries: Int)
    private let report: @Sendable (HTTPCache.SQLiteStore.Notice) -> Void
    private var state = State.closed
    private var isFull = false
    /// The inode of the opened file. If the file at the path no longer has this inode, another process has replaced the
    /// file or the system has removed it.
    private var inode: UInt64 = 0
    /// The end of the period in which operations fail immediately, because another process held the file for as long as
    /// a statement waits.
    private var busyUntil: SuspendingClock.Instant?

    /// The timeout for locks of other processes.
    private static let busyTimeout = Duration.seconds(5)

    init(
        path: String, folder: BodyFolder, bytes: Int64, entries: Int,
        report: @escaping @Sendable (HTTPCache.SQLiteStore.Notice) -> Void
    ) {
        self.path = path
        self.folder = folder
        limits = (bytes, entries)
        self.report = report
    }

    /// The number of recorded uses that have not been written yet; 0 if the database is not open.
    var useCount: Int {
        if case .open(let table) = state { table.useCount } else { 0 }
    }

    /// Runs `work` with the open tables. If the file is damaged, sets it aside, and runs `work` once more with a new
    /// file.
    mutating func perform<Result>(_ work: (CacheTable) throws -> Result) throws -> Result {
        do {
            return try attempt(work)
        } catch let failure as SQLiteFailure where failure.isCorruption {
            if failure.isForeign { try refuseForeign() }
            try setAside()
            do { return try attempt(work) } catch { throw explained(error) }
        } catch {
            throw explained(error)
        }
    }

    private mutating func attempt<Result>(_ work: (CacheTable) throws -> Result) throws -> Result {
        if let busyUntil, SuspendingClock.now < busyUntil { throw SQLiteFailure.stillBusy }
        if case .open = state, inode != Self.inode(path) { state = .closed }
        let result = try work(try open())
        busyUntil = nil
        isFull = false
        return result
    }

    private mutating func open() throws -> CacheTable {
        switch state {
        case .open(let table): return table
        case .refused(let error): throw error
        case .closed: break
        }
        try makeFiles()
        inode = Self.inode(path)
        let connection = try Connection(path: path, busyTimeout: Self.busyTimeout)
        do {
            try Schema.refuseOthers(connection, path: path)
            // SQLite gives its other files the permissions of this file, which an older version of the store may have
            // left open to other users.
            chmod(path, S_IRUSR | S_IWUSR)
            try Schema.prepare(connection, path: path)
        } catch let error as NetworkError {
            state = .refused(error)
            report(.unusable(error))
            throw error
        }
        let table = CacheTable(connection, byteLimit: limits.bytes, entryLimit: limits.entries)
        inode = Self.inode(path)
        state = .open(table)
        return table
    }

    /// Creates the folders and the file. Never opens the database itself, because closing it would release the locks
    /// that SQLite holds on it for this process.
    func makeFiles() throws {
        BodyFolder.makeParents(of: path)
        try folder.prepare()
        makeFile()
    }

    /// Creates an empty file, readable for its owner only. SQLite treats an empty file as a new database. A file that
    /// SQLite creates could be read by all users. The file receives its name, as a hard link, only after it is closed:
    /// see `makeFiles()`. On a file system without hard links, SQLite creates the file.
    private func makeFile() {
        guard access(path, F_OK) != 0 else { return }
        let draft = "\(path).\(getpid()).\(UInt32.random(in: .min ... .max)).new"
        let descriptor = openFile(draft, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW)
        guard descriptor >= 0 else { return }
        close(descriptor)
        link(draft, path)
        unlink(draft)
    }

    /// Throws, and refuses the file permanently, if it begins neither with a database header nor with the zeros that a
    /// crash leaves. Such a file is not a damaged cache, and is not changed.
    private mutating func refuseForeign() throws {
        let connection = try? Connection(path: path, busyTimeout: .zero, creates: false)
        guard let found = connection?.fileStart(16) else { return }
        guard !"SQLite format 3\0".utf8.starts(with: found), found.contains(where: { $0 != 0 }) else { return }
        let error = NetworkError(
            .storage, detail: "\(path) is not a database.",
            hint: "Use a separate path for the store. The file was not changed.")
        state = .refused(error)
        report(.unusable(error))
        throw error
    }

    /// Renames a damaged file to `<path>.damaged`, replacing an older one, unless another process has already done so.
    private mutating func setAside() throws {
        state = .closed
        let lock = openFile(path + ".lock", O_RDWR | O_CREAT)
        defer { close(lock) }
        guard lock >= 0, flock(lock, LOCK_EX) == 0 else { throw BodyFolder.failure("locked", path) }
        guard inode == Self.inode(path) else { return }
        let aside = path + ".damaged"
        unlink(path + "-shm")
        for suffix in ["-wal", ""] where access(path + suffix, F_OK) == 0 {
            guard rename(path + suffix, aside + suffix) == 0 else { throw BodyFolder.failure("set aside", path) }
        }
        report(.setAside(aside))
    }

    private mutating func explained(_ error: any Error) -> NetworkError {
        guard let failure = error as? SQLiteFailure else {
            let error = NetworkError(error)
            if error.hint?.contains("disk is full") == true { reportFull(error) }
            return error
        }
        var explained = NetworkError(
            .storage, detail: "The cache at \(path) cannot be used: \(failure.description) (\(failure.code)).",
            underlying: failure)
        if failure.isFull {
            explained.hint = "The disk is full. Until there is space, calls go to the network."
            reportFull(explained)
        } else if failure.isBusy {
            explained.hint =
                "Another process holds the database. The cache tries again after \(Self.busyTimeout.brief)."
            if failure.code != SQLiteFailure.stillBusy.code { busyUntil = SuspendingClock.now + Self.busyTimeout }
        }
        return explained
    }

    /// Reports a full disk once, until an operation succeeds again.
    private mutating func reportFull(_ error: NetworkError) {
        if !isFull { report(.full(error)) }
        isFull = true
    }

    /// Returns the inode of the file at this path; 0 if there is none.
    static func inode(_ path: String) -> UInt64 {
        var status = stat()
        return stat(path, &status) == 0 ? UInt64(status.st_ino) : 0
    }
}

/// The tables of the database, and the version of its format.
///
/// Heads and small bodies are stored in `entries`; a larger body is in a file named after the entry's `id`. Triggers
/// maintain `totals`, so that all processes see the same values. `removals` records what was removed, for entries that
/// are being written.
enum Schema {
    static let version: Int64 = 4
    /// The `application_id` of the file: "Crlw" in ASCII.
    static let application: Int64 = 0x4372_6C77

    /// Creates the tables of a new file. Replaces the tables of an older version and discards their entries: a cache
    /// can be refilled.
    static func prepare(_ connection: Connection, path: String) throws {
        // This setting takes effect only in a file without pages.
        try connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        try connection.writeAhead()
        // Where `fsync` leaves data in the disk's cache, as on Apple platforms, SQLite has to use a full sync.
        try connection.execute(
            """
            PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON;
            PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 256; PRAGMA journal_size_limit = 1048576;
            PRAGMA temp_store = MEMORY
            """)
        if try connection.snapshot({ try check(connection, path: path) }) { return }
        try connection.transaction {
            // Another process may have created the tables since the check.
            if try check(connection, path: path) { return }
            for name in ["entries", "tags", "totals", "removals"] {
                try connection.execute("DROP TABLE IF EXISTS \(name)")
            }
            try connection.execute(tables)
            try connection.execute("PRAGMA application_id = \(application); PRAGMA user_version = \(version)")
        }
    }

    /// Whether the file has the tables of this version.
    static func isCurrent(_ connection: Connection) throws -> Bool {
        try connection.snapshot {
            try connection.number("PRAGMA application_id") == application
                && connection.number("PRAGMA user_version") == version
        }
    }

    /// Throws `.storage` for a file of a newer version or of another program. Such a file is not changed.
    static func refuseOthers(_ connection: Connection, path: String) throws {
        _ = try connection.snapshot { try check(connection, path: path) }
    }

    /// Whether the file has the tables of this version. Throws `.storage` for a file of a newer version or of another
    /// program. Call it within a transaction: between two separate reads another process may create the tables.
    private static func check(_ connection: Connection, path: String) throws -> Bool {
        let owner = try connection.number("PRAGMA application_id")
        let found = try connection.number("PRAGMA user_version")
        let tables = try connection.number("SELECT count(*) FROM sqlite_master")
        if owner == application, found == version { return true }
        if owner == application, found > version {
            throw NetworkError(
                .storage, detail: "\(path) is a cache of version \(found), and this is version \(version).",
                hint: "Update the app, or use another path for the store. The file was not changed.")
        }
        guard owner == application || tables == 0 else {
            throw NetworkError(
                .storage, detail: "\(path) is a database of another program.",
                hint: "Use a separate path for the store. The file was not changed.")
        }
        return false
    }

    private static let tables = """
        CREATE TABLE entries(
            seq INTEGER PRIMARY KEY, id INTEGER NOT NULL UNIQUE, target BLOB NOT NULL, content BLOB, principal BLOB,
            variant BLOB NOT NULL, used INTEGER NOT NULL, cost INTEGER NOT NULL, length INTEGER NOT NULL,
            sum INTEGER NOT NULL, head BLOB NOT NULL, body BLOB);
        CREATE INDEX entries_target ON entries(target);
        CREATE INDEX entries_used ON entries(used);
        CREATE TABLE tags(tag BLOB NOT NULL, entry INTEGER NOT NULL, PRIMARY KEY(tag, entry)) WITHOUT ROWID;
        CREATE INDEX tags_entry ON tags(entry);
        CREATE TABLE totals(entries INTEGER NOT NULL, bytes INTEGER NOT NULL);
        INSERT INTO totals VALUES(0, 0);
        CREATE TRIGGER entries_added AFTER INSERT ON entries BEGIN
            UPDATE totals SET entries = entries + 1, bytes = bytes + new.cost; END;
        CREATE TRIGGER entries_removed AFTER DELETE ON entries BEGIN
            UPDATE totals SET entries = entries - 1, bytes = bytes - old.cost;
            DELETE FROM tags WHERE entry = old.seq; END;
        CREATE TRIGGER entries_changed AFTER UPDATE OF cost ON entries BEGIN
            UPDATE totals SET bytes = bytes + new.cost - old.cost; END;
        CREATE TABLE removals(number INTEGER PRIMARY KEY AUTOINCREMENT, kind INTEGER NOT NULL, value BLOB);
        """
}
