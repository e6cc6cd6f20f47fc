// SPDX-License-Identifier: MIT

import ConformanceCases
import CurlewCaching
import TestServers
import Testing

@testable import CurlewSQLite

extension CacheStoreMaker {
    /// Each store in a folder of its own, which goes with it.
    static let sqlite = CacheStoreMaker("sqlite") { limits in
        let folder = try TemporaryFolder()
        return HTTPCache.SQLiteStore(
            path: folder.path + "/cache.sqlite", byteLimit: limits.bytes, entryLimit: limits.entries,
            bodyLimit: limits.body
        ) { [folder] notice in Issue.record("\(notice) in \(folder.path)") }
    }
}

extension HTTPCache.Entry {
    static func testing(_ target: String) -> HTTPCache.Entry {
        let time = Date(timeIntervalSinceReferenceDate: 0)
        return HTTPCache.Entry(key: HTTPCache.Entry.Key(target: target), requestTime: time, responseTime: time)
    }
}

extension HTTPCache.SQLiteStore {
    /// Stores an entry.
    @discardableResult
    func put(_ target: String, _ body: Data = Data("x".utf8)) async throws -> HTTPCache.Entry {
        let head = HTTPCache.Entry.testing(target)
        let writer = try await write(head)
        #expect(try await writer.append(body))
        #expect(try await writer.commit(replacing: []))
        return head
    }

    func bytes(of head: HTTPCache.Entry) async throws -> Data? {
        guard let body = try await body(of: head) else { return nil }
        var all = Data()
        while true {
            let chunk = try await body.read(from: Int64(all.count), upTo: 1 << 20)
            if chunk.isEmpty { return all }
            all += chunk
        }
    }
}

/// Keeps what a store reports.
final class Notices: Sendable {
    private let all = Locked<[HTTPCache.SQLiteStore.Notice]>([])

    var list: [HTTPCache.SQLiteStore.Notice] { all.withLock { $0 } }

    func note(_ notice: HTTPCache.SQLiteStore.Notice) {
        all.withLock { $0.append(notice) }
    }
}

@Suite(.timeLimit(.minutes(1)))
struct SQLiteCacheStoreTests {
    @Test(arguments: CacheSuite.stores)
    func keepsTheContract(_ one: CacheCase) async throws {
        try await one.run(on: .sqlite)
    }

    @Test(arguments: CacheSuite.requirements)
    func cachesByTheRules(_ one: CacheCase) async throws {
        try await one.run(on: .sqlite)
    }

    @Test("Making a store touches nothing, and its files are the owner's alone")
    func lazy() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/deep/er/cache.sqlite"
        let store = HTTPCache.SQLiteStore(path: path)
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/deep"))
        try await store.put("https://a.example/", Data(count: 200_000))
        for name in ["", "-wal", "-shm"] {
            let rights = try FileManager.default.attributesOfItem(atPath: path + name)[.posixPermissions] as? Int
            #expect(rights == 0o600, "\(name)")
        }
        let rights = try FileManager.default.attributesOfItem(atPath: path + "-bodies")[.posixPermissions] as? Int
        #expect(rights == 0o700)
    }

    @Test("Stored responses are there for the next store, of this and of other processes")
    func persistence() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/cache.sqlite"
        let bodies = [Data("small".utf8), Data(repeating: 7, count: 1 << 20)]
        var heads: [HTTPCache.Entry] = []
        do {
            let store = HTTPCache.SQLiteStore(path: path)
            for (number, body) in bodies.enumerated() {
                heads.append(try await store.put("https://a.example/\(number)", body))
            }
        }
        let next = HTTPCache.SQLiteStore(path: path)
        for (head, body) in zip(heads, bodies) {
            #expect(try await next.variants(for: head.key).map(\.id) == [head.id])
            #expect(try await next.bytes(of: head) == body)
        }
        #expect(try await next.statistics().entries == 2)
    }

    @Test("A response found in one store has no body in another")
    func foundElsewhere() async throws {
        let folder = try TemporaryFolder()
        let (one, other) = (
            HTTPCache.SQLiteStore(path: folder.path + "/one.sqlite"),
            HTTPCache.SQLiteStore(path: folder.path + "/other.sqlite")
        )
        let head = try await one.put("https://a.example/", Data("small".utf8))
        try await other.put("https://b.example/", Data("small".utf8))
        let found = try #require(try await one.variants(for: head.key).first)
        #expect(try await other.body(of: found) == nil)
        #expect(try await one.body(of: found) != nil)
    }

    @Test("A removal by one store reaches what another one is writing")
    func removalAcross() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/cache.sqlite"
        let (one, other) = (HTTPCache.SQLiteStore(path: path), HTTPCache.SQLiteStore(path: path))
        let selections: [HTTPCache.Removal] = [
            .everything, .target("https://a.example/x"), .prefix("https://a"), .principal(nil),
            .matching { _ in false },
        ]
        for selection in selections {
            let writer = try await one.write(.testing("https://a.example/x"))
            _ = try await writer.append(Data(count: 100_000))
            try await other.remove(selection)
            #expect(try await !writer.commit(replacing: []), "\(selection)")
        }
        let writer = try await one.write(.testing("https://a.example/x"))
        for number in 0..<4200 { try await other.remove(.target("https://b.example/\(number)")) }
        #expect(try await !writer.commit(replacing: []), "who cannot know any more must not commit")
        let late = try await one.write(.testing("https://a.example/x"))
        try await other.remove(.principal("ann"))
        #expect(try await late.commit(replacing: []))
    }

    @Test("Files that a process left behind go, and those in use stay")
    func sweeping() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/cache.sqlite"
        let store = HTTPCache.SQLiteStore(path: path)
        let head = try await store.put("https://a.example/", Data(count: 100_000))
        let writer = try await store.write(.testing("https://a.example/2"))
        _ = try await writer.append(Data(count: 100_000))
        let left = [path + "-bodies/12345", path + "-bodies/12346"]
        try Data(count: 10).write(to: URL(fileURLWithPath: left[0]))
        try Data().write(to: URL(fileURLWithPath: left[1]))
        try FileManager.default.setAttributes([.modificationDate: Date() - 3600], ofItemAtPath: left[1])
        // Another process may be about to lock this one.
        let new = path + "-bodies/12347"
        try Data().write(to: URL(fileURLWithPath: new))
        let next = HTTPCache.SQLiteStore(path: path)
        _ = try await next.statistics()
        #expect(await eventually { !left.contains { FileManager.default.fileExists(atPath: $0) } })
        #expect(FileManager.default.fileExists(atPath: new))
        #expect(try await writer.commit(replacing: []))
        #expect(try await next.bytes(of: head)?.count == 100_000)
        #expect(try FileManager.default.contentsOfDirectory(atPath: path + "-bodies").count == 3)
    }

    @Test("Negative limits count as 0")
    func negativeLimits() {
        #expect(HTTPCache.SQLiteStore(path: "/unused", bodyLimit: -1).bodyLimit == 0)
        #expect(HTTPCache.SQLiteStore(path: "/unused", byteLimit: -1, entryLimit: -1).bodyLimit == 0)
    }
}
