// SPDX-License-Identifier: MIT

import CurlewCaching
import TestServers
import Testing

@testable import CurlewSQLite

/// Stores of many entries, and what they take of the disk.
@Suite(.timeLimit(.minutes(1)), .serialized)
struct SizeTests {
    /// Bytes of all files of a folder.
    static func size(of folder: String) throws -> Int64 {
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder)
        return try names.reduce(0) { sum, name in
            let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/" + name)
            guard attributes[.type] as? FileAttributeType == .typeRegular else { return sum }
            return sum + (attributes[.size] as? Int64 ?? Int64(attributes[.size] as? Int ?? 0))
        }
    }

    @Test("The cap holds for the files on the disk within five per cent", arguments: [500, 9000, 200_000])
    func cap(size: Int) async throws {
        let folder = try TemporaryFolder()
        let limit: Int64 = size < 1000 ? 8 << 20 : 32 << 20
        let store = HTTPCache.SQLiteStore(path: folder.path + "/cache.sqlite", byteLimit: limit)
        var random = SeededGenerator(seed: 1)
        var most: Int64 = 0
        let count = Int(limit) * 2 / (size + 1200)
        for number in 0..<count {
            let body = Data(count: Int.random(in: size / 2...size * 3 / 2, using: &random))
            try await store.put("https://api.example/things/\(number)", body)
            guard number % (count / 20 + 1) == 0 else { continue }
            let bytes = try await store.statistics().bytes
            #expect(bytes <= limit)
            // Files of entries that were dropped go a moment later.
            try await store.queue.withFiles {}
            most = max(most, try Self.size(of: folder.path))
        }
        let statistics = try await store.statistics()
        print("cap \(limit): counted \(statistics.bytes), on the disk \(most), entries \(statistics.entries)")
        #expect(statistics.evicted > 0)
        #expect(most <= limit + limit / 20, "the files have \(most) bytes, the limit is \(limit)")
        #expect(statistics.bytes > limit - limit / 20)
    }

    @Test("A lookup among a hundred thousand entries takes at most twice that among a thousand")
    func lookups() async throws {
        let folder = try TemporaryFolder()
        let store = HTTPCache.SQLiteStore(path: folder.path + "/cache.sqlite", byteLimit: 1 << 40, entryLimit: 200_000)
        var heads: [HTTPCache.Entry] = []
        for number in 0..<1000 {
            heads.append(try await store.put("https://api.example/things/\(number * 7919 % 1000)", Data(count: 1000)))
        }
        let few = HTTPCache.SQLiteStore(path: folder.path + "/few.sqlite", byteLimit: 1 << 40)
        for number in 0..<1000 { try await few.put("https://api.example/things/\(number)", Data(count: 1000)) }
        try await store.queue.run { table in
            try table.connection.execute(
                """
                WITH RECURSIVE n(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < 99999)
                INSERT INTO entries(id, target, content, principal, variant, used, cost, length, sum, head, body)
                SELECT i, CAST('https://api.example/things/' || i AS BLOB), NULL, NULL, x'', i, 2000, 1000, 0,
                    (SELECT head FROM entries WHERE seq = 1), zeroblob(1000) FROM n
                """)
        }
        #expect(try await store.statistics().entries == 100_000)
        // In turns, so that a moment in which others use the processor's caches counts for both.
        var (small, large) = (Duration.seconds(1000), Duration.seconds(1000))
        for _ in 0..<30 {
            small = min(small, try await Self.lookupTime(heads, few))
            large = min(large, try await Self.lookupTime(heads, store))
        }
        print("lookup among 1,000: \(small), among 100,000: \(large)")
        #expect(large <= small * 2)
        let plan = try await store.queue.run { table in
            try table.connection.rows(
                "EXPLAIN QUERY PLAN SELECT head FROM entries WHERE target = ? AND content IS ? AND principal IS ?"
            ) { $0.bytes(3).map { String(decoding: $0, as: UTF8.self) } ?? "" }
        }
        #expect(plan.allSatisfy { $0.contains("entries_target") })
    }

    /// The processor's time for one lookup, on the store's thread.
    static func lookupTime(_ heads: [HTTPCache.Entry], _ store: HTTPCache.SQLiteStore) async throws -> Duration {
        try await store.queue.run { table in
            let start = try Self.threadTime()
            for head in heads.prefix(300) {
                guard let found = try table.variants(for: head.key).intact.first, try table.find(found.id) != nil else {
                    throw CancellationError()
                }
                table.use([found.id])
            }
            return (try Self.threadTime() - start) / 300
        }
    }

    private static func threadTime() throws -> Duration {
        var time = timespec()
        guard clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0 else { throw CancellationError() }
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
