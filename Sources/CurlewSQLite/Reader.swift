// SPDX-License-Identifier: MIT

import CurlewCore

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
