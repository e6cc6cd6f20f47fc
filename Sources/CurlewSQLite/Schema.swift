// SPDX-License-Identifier: MIT

import CurlewCore

/// The tables of the database, and the version of its format.
///
/// Heads and small bodies are stored in `entries`; a larger body is in a file named after the entry's `id`. Triggers
/// maintain `totals`, so that all processes see the same values. `removals` records what was removed, for entries that
/// are being written.
enum Schema {
    static let version: Int64 = 3
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
