// SPDX-License-Identifier: MIT

import CurlewCaching
import CurlewCore
import CurlewFoundation

/// The entries of an open database. Every operation is short: one statement, or one transaction.
///
/// Uses of entries are recorded in memory, and written before the next eviction or after a delay, so that reading an
/// entry requires no write.
final class CacheTable {
    struct Body {
        /// The bytes; nil if they are in a file.
        let bytes: Data?
        let length: Int64
        /// The checksum of the bytes, with the number of the entry as its seed.
        let sum: Int64
    }

    let connection: Connection
    private let byteLimit: Int64
    private let entryLimit: Int
    private var uses: [Int64: Int64] = [:]
    private var lastUse: Int64 = 0

    init(_ connection: Connection, byteLimit: Int64, entryLimit: Int) {
        self.connection = connection
        self.byteLimit = byteLimit
        self.entryLimit = entryLimit
    }

    /// The number of recorded uses that have not been written to the database yet.
    var useCount: Int { uses.count }

    // MARK: Finding

    /// Returns the entries of a key, newest first, and the rows whose heads are damaged or have another key.
    func variants(for key: HTTPCache.Entry.Key) throws -> (intact: [HTTPCache.Entry], damaged: [Int64]) {
        let rows = try connection.rows(
            """
            SELECT seq, head FROM entries WHERE target = ? AND content IS ? AND principal IS ?
            ORDER BY seq DESC LIMIT \(HTTPCache.Entry.variantLimit)
            """, [.text(key.target), .text(key.content), .text(key.principal)]
        ) { (seq: $0.number(0), head: Self.head($0.bytes(1))) }
        var (intact, damaged) = ([HTTPCache.Entry](), [Int64]())
        for (seq, head) in rows {
            if let head, head.key.target == key.target, head.key.content == key.content,
                head.key.principal == key.principal
            {
                intact.append(head)
            } else {
                damaged.append(seq)
            }
        }
        return (intact, damaged)
    }

    /// Returns the row of an entry, and its body, which is not checked.
    func find(_ id: HTTPCache.Entry.ID) throws -> (seq: Int64, body: Body)? {
        try connection.rows("SELECT seq, body, length, sum FROM entries WHERE id = ?", [.number(id.number)]) {
            ($0.number(0), Body(bytes: $0.bytes(1), length: $0.number(2), sum: $0.number(3)))
        }.first
    }

    /// Decodes the column `head`: an encoded head and its checksum. Returns nil if it is damaged.
    private static func head(_ column: Data?) -> HTTPCache.Entry? {
        guard let column, column.count > 8, column.suffix(8) == bytes(Checksum.of(column.dropLast(8))) else {
            return nil
        }
        return HTTPCache.Entry(encoded: column.dropLast(8))
    }

    private static func column(_ head: HTTPCache.Entry) -> Data {
        let encoded = head.encoded
        return encoded + bytes(Checksum.of(encoded))
    }

    private static func bytes(_ sum: Int64) -> Data { withUnsafeBytes(of: sum.littleEndian) { Data($0) } }

    /// Records that these entries were used, in this order. The uses are written to the database later, and lost if
    /// that fails.
    func use(_ ids: [HTTPCache.Entry.ID]) {
        for id in ids { uses[id.number] = stamp() }
    }

    func contains(_ id: HTTPCache.Entry.ID) throws -> Bool {
        try !connection.rows("SELECT 1 FROM entries WHERE id = ?", [.number(id.number)]) { _ in }.isEmpty
    }

    func remove(rows: [Int64]) throws -> Change {
        try connection.transaction {
            var change = Change()
            let before = try totals.entries
            for seq in rows { try drop("seq = ?", [.number(seq)], &change) }
            change.isDone = try totals.entries != before
            return change
        }
    }

    var totals: (entries: Int, bytes: Int64) {
        get throws {
            let rows = try connection.rows("SELECT entries, bytes FROM totals") { (Int($0.number(0)), $0.number(1)) }
            return rows.first ?? (0, 0)
        }
    }

    /// Returns at most `count` heads in ascending order of their `seq`, beginning after the given one. A head that
    /// cannot be decoded is nil.
    func heads(after seq: Int64, count: Int) throws -> [(seq: Int64, head: HTTPCache.Entry?)] {
        try connection.rows(
            "SELECT seq, head FROM entries WHERE seq > ? ORDER BY seq LIMIT ?", [.number(seq), .number(Int64(count))]
        ) { ($0.number(0), Self.head($0.bytes(1))) }
    }

    // MARK: Changing

    struct Change {
        var isDone = false
        var evicted = 0
        /// The entries whose bodies are in files that are no longer used.
        var files: [HTTPCache.Entry.ID] = []
    }

    /// Makes an entry visible, unless a removal after number `start` contains it or a newer response is stored.
    func commit(
        _ response: HTTPCache.Entry, _ body: Body, replacing others: [HTTPCache.Entry.ID], since start: Int64
    ) throws -> Change {
        var response = response
        response.bodyLength = body.length
        let head = Self.column(response)
        return try connection.transaction {
            var change = Change()
            guard try !RemovalLog(connection).reach(response, since: start), try !isOvertaken(response) else {
                return change
            }
            for id in others { try drop("id = ?", [.number(id.number)], &change) }
            try drop(sameVariant, values(of: response), &change)
            try connection.run(
                """
                INSERT INTO entries(id, target, content, principal, variant, used, cost, length, sum, head, body)
                VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    .number(response.id.number), .text(response.key.target), .text(response.key.content),
                    .text(response.key.principal), .text(response.variant), .number(stamp()),
                    .number(Self.cost(head, response, isInside: body.bytes != nil)), .number(body.length),
                    .number(body.sum), .bytes(head), body.bytes.map { .bytes($0) } ?? .null,
                ])
            try insertTags(response)
            try drop(
                """
                seq IN (SELECT seq FROM entries WHERE target = ? AND content IS ? AND principal IS ?
                ORDER BY seq DESC LIMIT -1 OFFSET \(HTTPCache.Entry.variantLimit))
                """, Array(values(of: response).prefix(3)), &change)
            try evict(&change)
            change.isDone = true
            return change
        }
    }

    /// Whether a newer response of the same key and variant is stored.
    private func isOvertaken(_ response: HTTPCache.Entry) throws -> Bool {
        try connection.rows("SELECT head FROM entries WHERE \(sameVariant)", values(of: response)) {
            Self.head($0.bytes(0))?.isNewer(than: response) == true
        }.contains(true)
    }

    func update(_ response: HTTPCache.Entry) throws -> Change {
        try connection.transaction {
            var change = Change()
            let rows = try connection.rows(
                """
                SELECT seq, length, body IS NOT NULL FROM entries
                WHERE id = ? AND target = ? AND content IS ? AND principal IS ?
                """, [.number(response.id.number)] + values(of: response).prefix(3)
            ) { ($0.number(0), $0.number(1), $0.number(2) != 0) }
            guard let (seq, length, isInside) = rows.first else { return change }
            var response = response
            response.bodyLength = length
            let head = Self.column(response)
            try drop(sameVariant + " AND seq <> ?", values(of: response) + [.number(seq)], &change)
            try connection.run(
                "UPDATE entries SET head = ?, variant = ?, cost = ?, used = ? WHERE seq = ?",
                [
                    .bytes(head), .text(response.variant), .number(Self.cost(head, response, isInside: isInside)),
                    .number(stamp()), .number(seq),
                ])
            try connection.run("DELETE FROM tags WHERE entry = ?", [.number(seq)])
            try insertTags(response)
            uses[response.id.number] = nil
            try evict(&change)
            change.isDone = true
            return change
        }
    }

    /// Removes the entries in `selection`, and records the removal for writers. Returns the number of removed entries.
    /// A `.matching` selection is only recorded.
    func remove(_ selection: HTTPCache.Removal) throws -> (count: Int, change: Change) {
        let result = try connection.transaction {
            var change = Change()
            try RemovalLog(connection).record(selection)
            let before = try totals.entries
            switch selection {
            case .everything: try drop("1", [], &change)
            case .target(let target): try drop("target = ?", [.text(target)], &change)
            case .prefix(let prefix):
                var end = Data(prefix.utf8)
                // The smallest string greater than all strings with this prefix: no byte of UTF-8 is 255.
                if let last = end.popLast() { end.append(last + 1) }
                let range = end.isEmpty ? "1" : "target >= ? AND target < ?"
                try drop(range, end.isEmpty ? [] : [.text(prefix), .bytes(end)], &change)
            case .principal(let principal): try drop("principal IS ?", [.text(principal)], &change)
            case .tags(let tags):
                for tag in tags {
                    try drop("seq IN (SELECT entry FROM tags WHERE tag = ?)", [.text(tag)], &change)
                }
            case .entries(let ids):
                for id in ids { try drop("id = ?", [.number(id.number)], &change) }
            case .matching: break
            }
            return (before - (try totals.entries), change)
        }
        // The entries are removed even if the file cannot shrink, for example because another process holds the
        // database.
        if case .everything = selection { try? connection.execute("PRAGMA incremental_vacuum") }
        return result
    }

    /// Writes the recorded uses to the database.
    func writeUses() throws {
        guard !uses.isEmpty else { return }
        try connection.transaction { try recordUses() }
    }

    // MARK: Inside transactions

    private func recordUses() throws {
        for (id, stamp) in uses {
            try connection.run("UPDATE entries SET used = ? WHERE id = ?", [.number(stamp), .number(id)])
        }
        uses = [:]
    }

    private func drop(_ condition: String, _ values: [SQLiteValue], _ change: inout Change) throws {
        change.files += try connection.rows(
            "SELECT id FROM entries WHERE body IS NULL AND (\(condition))", values
        ) { HTTPCache.Entry.ID($0.number(0)) }
        try connection.run("DELETE FROM entries WHERE \(condition)", values)
    }

    /// Evicts the least recently used entries until the limits are kept.
    private func evict(_ change: inout Change) throws {
        var (entries, bytes) = try totals
        guard entries > entryLimit || bytes > byteLimit else { return }
        try recordUses()
        while entries > entryLimit || bytes > byteLimit {
            let oldest = try connection.rows("SELECT seq, cost FROM entries ORDER BY used LIMIT 16") {
                ($0.number(0), $0.number(1))
            }
            // Without entries there is nothing to count, so the totals are damaged.
            if oldest.isEmpty { return try connection.execute("UPDATE totals SET entries = 0, bytes = 0") }
            for (seq, cost) in oldest where entries > entryLimit || bytes > byteLimit {
                try drop("seq = ?", [.number(seq)], &change)
                change.evicted += 1
                entries -= 1
                bytes -= cost
            }
        }
    }

    private func insertTags(_ response: HTTPCache.Entry) throws {
        for tag in response.tags {
            try connection.run(
                "INSERT INTO tags SELECT ?, seq FROM entries WHERE id = ?",
                [.text(tag), .number(response.id.number)])
        }
    }

    private let sameVariant = "target = ? AND content IS ? AND principal IS ? AND variant = ?"

    private func values(of response: HTTPCache.Entry) -> [SQLiteValue] {
        [
            .text(response.key.target), .text(response.key.content), .text(response.key.principal),
            .text(response.variant),
        ]
    }

    /// Returns a time stamp in microseconds of the wall clock, later than all previous ones of this table. It is
    /// compared with the time stamps of other processes.
    private func stamp() -> Int64 {
        lastUse = max(lastUse + 1, Int64(SystemTime().date.timeIntervalSince1970 * 1e6))
        return lastUse
    }

    /// Returns the estimated disk space of an entry in bytes: small rows share pages, larger rows and files occupy
    /// separate pages.
    static func cost(_ head: Data, _ response: HTTPCache.Entry, isInside: Bool) -> Int64 {
        let key = Int64(response.key.target.utf8.count)
        let row = Int64(head.count) + 2 * key + 200 + (isInside ? response.bodyLength : 0)
        let pages = { (bytes: Int64) in (bytes + 4095) / 4096 * 4096 }
        let inside = row <= 2000 ? row + row / 4 : pages(row)
        return inside + (isInside ? 0 : pages(response.bodyLength))
    }
}
