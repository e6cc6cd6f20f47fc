// SPDX-License-Identifier: MIT

import CurlewCaching
import TestServers
import Testing

@testable import CurlewSQLite

/// What a store on the disk evicts.
@Suite(.timeLimit(.minutes(1)))
struct SweepTests {
    @Test("Each file that was left behind is found eventually, however many others there are")
    func largeFolder() throws {
        let place = try TemporaryFolder()
        let folder = BodyFolder(path: place.path + "/bodies")
        try folder.prepare()
        for number in 1...200 { try Data(count: 1).write(to: URL(fileURLWithPath: "\(folder.path)/\(number)")) }
        var kept = 0
        // A folder has one order of its names. Those that it lists first are kept, more than one sweep looks at.
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).prefix(150)
        let first = Set(names.compactMap { Int64($0) })
        for _ in 0..<1000 {
            kept = try FileManager.default.contentsOfDirectory(atPath: folder.path).count
            if kept == first.count { break }
            folder.sweep(maximum: 20) { first.contains($0.number) }
        }
        #expect(kept == first.count)
    }

    @Test("A store on the disk reports the number of dropped entries, once")
    func evictions() async throws {
        let place = try TemporaryFolder()
        let store = HTTPCache.SQLiteStore(path: place.path + "/cache.sqlite", entryLimit: 5)
        for number in 0..<8 { try await store.put("https://a.example/\(number)", Data(count: 10)) }
        #expect(store.takeEvictionCount() == 3)
        #expect(store.takeEvictionCount() == 0)
    }

    @Test("Entries are removed by age and by origin")
    func removals() async throws {
        let place = try TemporaryFolder()
        let store = HTTPCache.SQLiteStore(path: place.path + "/cache.sqlite")
        for host in ["a.test", "a.test.b"] { try await store.put("https://\(host)/x", Data(count: 10)) }
        let origin = try #require(Origin(scheme: "https", host: "a.test"))
        #expect(try await store.remove(.origin(origin)) == 1)
        #expect(try await store.remove(.unchecked(since: Date(timeIntervalSince1970: -60))) == 0)
        #expect(try await store.remove(.unchecked(since: .distantFuture)) == 1)
    }
}
