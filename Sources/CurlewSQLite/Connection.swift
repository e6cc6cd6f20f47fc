// SPDX-License-Identifier: MIT

import CurlewCore

#if canImport(SQLite3)
import SQLite3
#else
import CSQLite
#endif

/// An error from SQLite, with its extended code and its message.
struct SQLiteFailure: Error, CustomStringConvertible {
    let code: Int32
    let description: String

    /// Whether the file is damaged, or not a database.
    var isCorruption: Bool { [SQLITE_CORRUPT, SQLITE_NOTADB].contains(code & 0xFF) }
    /// Whether the file does not begin with the header of a database.
    var isForeign: Bool { code & 0xFF == SQLITE_NOTADB }
    var isFull: Bool { code & 0xFF == SQLITE_FULL }
    /// The error for work that is not attempted, for example because the database has just been busy.
    static let stillBusy = SQLiteFailure(code: SQLITE_BUSY | 0xFF00, description: "the database is busy")
    var isBusy: Bool { [SQLITE_BUSY, SQLITE_LOCKED].contains(code & 0xFF) }
}

/// A connection to a database, with its prepared statements. Used by one thread at a time.
final class Connection {
    private let handle: OpaquePointer
    private let busyTimeout: Duration
    private var statements: [String: Statement] = [:]

    /// Opens the file. If it does not exist, creates it if `creates` is true, and throws otherwise. Each statement
    /// waits at most `busyTimeout` for other processes.
    init(path: String, busyTimeout: Duration, creates: Bool = true) throws(SQLiteFailure) {
        var handle: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (creates ? SQLITE_OPEN_CREATE : 0)
        let code = sqlite3_open_v2(path, &handle, flags, nil)
        guard code == SQLITE_OK, let handle else {
            let words = handle.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
            sqlite3_close_v2(handle)
            throw SQLiteFailure(code: code, description: words)
        }
        self.handle = handle
        self.busyTimeout = busyTimeout
        sqlite3_extended_result_codes(handle, 1)
        sqlite3_busy_timeout(handle, Int32(clamping: Int64(busyTimeout / .milliseconds(1))))
    }

    deinit {
        statements = [:]
        sqlite3_close_v2(handle)
    }

    /// Returns the first bytes of the file, at most `count`; empty if they cannot be read. SQLite reads them, whatever
    /// the file contains. A descriptor of the caller would release the locks of all connections to the file when it is
    /// closed.
    func fileStart(_ count: Int) -> [UInt8] {
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK, let file,
            let methods = file.pointee.pMethods?.pointee, let size = methods.xFileSize, let read = methods.xRead
        else { return [] }
        var length: sqlite3_int64 = 0
        guard size(file, &length) == SQLITE_OK else { return [] }
        var bytes = [UInt8](repeating: 0, count: min(count, Int(clamping: length)))
        return read(file, &bytes, Int32(clamping: bytes.count), 0) == SQLITE_OK ? bytes : []
    }

    /// Returns the prepared statement for this SQL text. The first use prepares it.
    func statement(_ text: String) throws(SQLiteFailure) -> Statement {
        if let statement = statements[text] { return statement }
        let statement = try Statement(text, handle)
        statements[text] = statement
        return statement
    }

    /// Runs one or more statements without bound values.
    func execute(_ text: String) throws(SQLiteFailure) {
        let code = sqlite3_exec(handle, text, nil, nil, nil)
        guard code == SQLITE_OK else { throw failure(code) }
    }

    /// Runs a statement and returns its rows.
    func rows<Row>(
        _ text: String, _ values: [SQLiteValue] = [], read: (Statement) -> Row
    ) throws(SQLiteFailure) -> [Row] {
        let statement = try statement(text)
        defer { statement.reset() }
        try statement.bind(values)
        var rows: [Row] = []
        while try statement.step() { rows.append(read(statement)) }
        return rows
    }

    /// Returns the first number of the first row of a statement; 0 for a null.
    func number(_ text: String) throws(SQLiteFailure) -> Int64 {
        let statement = try statement(text)
        defer { statement.reset() }
        return try statement.step() ? statement.number(0) : 0
    }

    /// Runs a statement that returns no rows. Returns the number of changed rows.
    @discardableResult
    func run(_ text: String, _ values: [SQLiteValue] = []) throws(SQLiteFailure) -> Int {
        _ = try rows(text, values) { _ in }
        return Int(sqlite3_changes(handle))
    }

    /// Enables write-ahead logging, so that readers and a writer do not wait for each other.
    ///
    /// If several processes do this to a new file at the same time, SQLite reports immediately that the file is busy:
    /// each process has read the file before it writes, so that waiting could deadlock. This method releases its read
    /// lock for a moment and tries again, for at most `busyTimeout`.
    func writeAhead(givingWay: () -> Void = { sqlite3_sleep(.random(in: 1...10)) }) throws(SQLiteFailure) {
        let end = SuspendingClock.now + busyTimeout
        while true {
            do {
                _ = try rows("PRAGMA journal_mode = WAL") { _ in }
                return
            } catch {
                guard error.isBusy, SuspendingClock.now < end else { throw error }
                givingWay()
            }
        }
    }

    /// Runs `body` in a transaction that excludes other writers. Rolls back if `body` throws.
    func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        try transaction("BEGIN IMMEDIATE", body)
    }

    /// Runs `body` with a consistent snapshot of the database, whatever other connections write.
    func snapshot<Result>(_ body: () throws -> Result) throws -> Result {
        try transaction("BEGIN", body)
    }

    private func transaction<Result>(_ beginning: String, _ body: () throws -> Result) throws -> Result {
        try execute(beginning)
        do {
            let result = try body()
            try execute("COMMIT")
            return result
        } catch {
            // The transaction may already have ended, for example because the disk is full.
            try? execute("ROLLBACK")
            throw error
        }
    }

    private func failure(_ code: Int32) -> SQLiteFailure {
        SQLiteFailure(code: code, description: String(cString: sqlite3_errmsg(handle)))
    }
}

/// A connection for lookups only. In write-ahead mode a reader does not wait for a writer, in this process or another.
///
/// The reader never creates or repairs the file. If there is no file, or if it cannot be read or has another version,
/// the caller uses the connection that writes.
struct Reader {
    private let path: String
    private let limits: (bytes: Int64, entries: Int)
    private var table: CacheTable?
    private var inode: UInt64 = 0

    init(path: String, bytes: Int64, entries: Int) {
        self.path = path
        limits = (bytes, entries)
    }

    /// Runs `work`, and returns its result; nil if the caller has to use the connection that writes.
    mutating func perform<Result>(_ work: (CacheTable) throws -> Result) -> Result? {
        do {
            return try work(try open())
        } catch {
            table = nil
            return nil
        }
    }

    private mutating func open() throws -> CacheTable {
        let found = Database.inode(path)
        if let table, found == inode { return table }
        table = nil
        guard found != 0 else { throw SQLiteFailure.stillBusy }
        let connection = try Connection(path: path, busyTimeout: .milliseconds(100), creates: false)
        try connection.execute("PRAGMA query_only = ON; PRAGMA temp_store = MEMORY")
        guard try Schema.isCurrent(connection) else { throw SQLiteFailure.stillBusy }
        let opened = CacheTable(connection, byteLimit: limits.bytes, entryLimit: limits.entries)
        (table, inode) = (opened, found)
        return opened
    }
}
