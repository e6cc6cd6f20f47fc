// SPDX-License-Identifier: MIT

import CurlewCaching
import CurlewCore
import CurlewFoundation

/// The recent removals, by number, in a table of the database. The writer of an entry, in any process, checks them
/// before it commits.
///
/// The last 4096 rows are kept; a removal by tags has a row for each tag. An entry whose lookup preceded these rows
/// counts as removed. A removal with a function of the app (`.matching`) counts as containing every entry that is being
/// written.
struct RemovalLog {
    private static let maximum: Int64 = 4096

    private enum Kind: Int64 {
        case everything, target, prefix, principal, tag, entries
    }

    private let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    /// The number of the last removal; 0 if there is none.
    var last: Int64 {
        get throws { try connection.number("SELECT max(number) FROM removals") }
    }

    func record(_ selection: HTTPCache.Removal) throws {
        switch selection {
        case .everything, .matching: try record(.everything, .null)
        case .target(let target): try record(.target, .text(target))
        case .prefix(let prefix): try record(.prefix, .text(prefix))
        case .principal(let principal): try record(.principal, .text(principal))
        case .tags(let tags): for tag in tags { try record(.tag, .text(tag)) }
        case .entries(let ids):
            var numbers = Data()
            for id in ids { withUnsafeBytes(of: id.number.littleEndian) { numbers.append(contentsOf: $0) } }
            try record(.entries, .bytes(numbers))
        }
        try connection.run("DELETE FROM removals WHERE number <= ?", [.number(try last - Self.maximum)])
    }

    private func record(_ kind: Kind, _ value: SQLiteValue) throws {
        try connection.run("INSERT INTO removals(kind, value) VALUES(?, ?)", [.number(kind.rawValue), value])
    }

    /// Returns whether a removal after number `start` contains the entry.
    func reach(_ response: HTTPCache.Entry, since start: Int64) throws -> Bool {
        let later = try connection.rows(
            "SELECT kind, value FROM removals WHERE number > ?", [.number(start)]
        ) { (Kind(rawValue: $0.number(0)), $0.bytes(1)) }
        let last = try last
        // A larger `start` is a number from an earlier file that has since been set aside.
        guard start <= last else { return true }
        if later.isEmpty { return false }
        guard last - start <= Int64(later.count) else { return true }
        return later.contains { kind, value in
            switch kind {
            case .everything, nil: true
            case .target: Data(response.key.target.utf8) == value
            case .prefix: response.key.target.utf8.starts(with: value ?? Data())
            case .principal: response.key.principal.map { Data($0.utf8) } == value
            case .tag: response.tags.contains { Data($0.utf8) == value }
            case .entries: Self.contains(response.id, in: value ?? Data())
            }
        }
    }

    private static func contains(_ id: HTTPCache.Entry.ID, in numbers: Data) -> Bool {
        let wanted = withUnsafeBytes(of: id.number.littleEndian) { Data($0) }
        return stride(from: 0, to: numbers.count - 7, by: 8).contains { offset in
            let start = numbers.startIndex + offset
            return numbers[start..<start + 8] == wanted
        }
    }
}
