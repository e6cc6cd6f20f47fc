// SPDX-License-Identifier: MIT

import CurlewFoundation

#if canImport(SQLite3)
import SQLite3
#else
import CSQLite
#endif

/// A value that is bound to a statement. Strings are bound as blobs, so that they are compared byte by byte and may
/// contain any bytes.
enum SQLiteValue {
    case number(Int64)
    case bytes(Data)
    case null

    static func text(_ text: String) -> SQLiteValue { .bytes(Data(text.utf8)) }
    static func text(_ text: String?) -> SQLiteValue { text.map { .bytes(Data($0.utf8)) } ?? .null }
}

/// A prepared statement. Deallocation finalizes it.
final class Statement {
    private let handle: OpaquePointer
    private let database: OpaquePointer

    init(_ text: String, _ database: OpaquePointer) throws(SQLiteFailure) {
        var handle: OpaquePointer?
        let code = sqlite3_prepare_v3(database, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil)
        guard code == SQLITE_OK, let handle else {
            throw SQLiteFailure(code: code, description: String(cString: sqlite3_errmsg(database)))
        }
        self.handle = handle
        self.database = database
    }

    deinit { sqlite3_finalize(handle) }

    func bind(_ values: [SQLiteValue]) throws(SQLiteFailure) {
        for (index, value) in values.enumerated() {
            let position = Int32(index + 1)
            let code =
                switch value {
                case .number(let number): sqlite3_bind_int64(handle, position, number)
                case .null: sqlite3_bind_null(handle, position)
                // The pointer of an empty buffer may be null, and would be bound as NULL.
                case .bytes(let data) where data.isEmpty: sqlite3_bind_zeroblob(handle, position, 0)
                case .bytes(let data):
                    data.withUnsafeBytes {
                        sqlite3_bind_blob64(handle, position, $0.baseAddress, UInt64($0.count), Self.copying)
                    }
                }
            guard code == SQLITE_OK else { throw failure(code) }
        }
    }

    /// Advances to the next row. Returns false if there is none.
    func step() throws(SQLiteFailure) -> Bool {
        let code = sqlite3_step(handle)
        switch code {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw failure(code)
        }
    }

    func reset() {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
    }

    func number(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    /// Returns the bytes of a column; nil for NULL.
    func bytes(_ column: Int32) -> Data? {
        guard sqlite3_column_type(handle, column) != SQLITE_NULL else { return nil }
        let count = Int(sqlite3_column_bytes(handle, column))
        guard count > 0, let start = sqlite3_column_blob(handle, column) else { return Data() }
        return Data(bytes: start, count: count)
    }

    private func failure(_ code: Int32) -> SQLiteFailure {
        SQLiteFailure(code: code, description: String(cString: sqlite3_errmsg(database)))
    }

    /// Makes SQLite copy bound bytes (`SQLITE_TRANSIENT`, a macro that Swift does not import).
    private static let copying = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
}
