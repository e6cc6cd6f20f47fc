// SPDX-License-Identifier: MIT

import CurlewCaching
import TestServers
import Testing

@testable import CurlewSQLite

/// Files that are not as they should be, and disks that are full.
@Suite(.timeLimit(.minutes(1)))
struct DamageTests {
    let folder: TemporaryFolder
    let notices = Notices()
    let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path + "/cache.sqlite"
    }

    func store() -> HTTPCache.SQLiteStore {
        HTTPCache.SQLiteStore(path: path) { [notices] in notices.note($0) }
    }

    /// Fills a store, and returns when its files are closed.
    func fill() async throws {
        let store = store()
        for number in 0..<300 { try await store.put("https://a.example/\(number)", Data(count: 3000)) }
        try await store.queue.run { try $0.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)") }
    }

    @Test("A file that is no database stays as it is, and is reported", arguments: ["ab", "notes\n", "a long text, "])
    func noDatabase(text: String) async throws {
        let data = Data(String(repeating: text, count: text.utf8.count > 10 ? 1000 : 1).utf8)
        try data.write(to: URL(fileURLWithPath: path))
        let store = store()
        for _ in 0..<2 {
            await #expect { try await store.statistics() } throws: { NetworkError($0).reason == .storage }
        }
        #expect(notices.list.count == 1)
        #expect(notices.list.first?.description.contains("is not a database") == true)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == data)
        #expect(!FileManager.default.fileExists(atPath: path + ".damaged"))
    }

    #if os(Linux)
    @Test("Refusing a file that is no database releases no locks of other connections to it")
    func locks() async throws {
        let other = try Connection(path: path, busyTimeout: .seconds(1))
        try other.execute("CREATE TABLE diary(entry TEXT); BEGIN; SELECT * FROM diary")
        // Stays open to the end of the test, because closing it would release the locks.
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try #require(try Self.isLocked(file))
        try file.write(contentsOf: Data("a long text, which is no header of a database".utf8))
        await #expect { try await store().statistics() } throws: { NetworkError($0).detail.contains("not a database") }
        #expect(try Self.isLocked(file))
        withExtendedLifetime(other) {}
    }

    /// Whether SQLite's shared lock of the file is held, seen from a lock of the open file description (F_OFD_GETLK).
    private static func isLocked(_ file: FileHandle) throws -> Bool {
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = 0x4000_0002
        lock.l_len = 510
        try #require(fcntl(file.fileDescriptor, 36, &lock) == 0)
        return lock.l_type != Int16(F_UNLCK)
    }
    #endif

    @Test("A file of zeros, as after a crash, is set aside and reported, and the store begins again")
    func zeros() async throws {
        try Data(count: 20_000).write(to: URL(fileURLWithPath: path))
        let store = store()
        let head = try await store.put("https://a.example/")
        #expect(try await store.bytes(of: head) == Data("x".utf8))
        #expect(notices.list.map(\.description).joined().contains(path + ".damaged"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: path + ".damaged")).count == 20_000)
    }

    @Test("Damage that shows up later is set aside in the same way", arguments: 1...6)
    func damagedPages(seed: UInt64) async throws {
        try await fill()
        var random = SeededGenerator(seed: seed)
        var data = try Data(contentsOf: URL(fileURLWithPath: path))
        for page in 1..<data.count / 4096 where page < 4 || Bool.random(using: &random) {
            let start = page * 4096
            let noise = (0..<100).map { _ in UInt8.random(in: 0...255, using: &random) }
            data.replaceSubrange(start..<start + 100, with: noise)
        }
        try data.write(to: URL(fileURLWithPath: path))
        try? FileManager.default.removeItem(atPath: path + "-wal")
        try? FileManager.default.removeItem(atPath: path + "-shm")
        let store = store()
        for number in 0..<300 {
            // Whatever is found is either not there or right.
            for head in try await store.variants(for: HTTPCache.Entry.Key(target: "https://a.example/\(number)")) {
                let bytes = try await store.bytes(of: head)
                #expect(bytes == nil || bytes?.count == 3000, "seed \(seed)")
            }
        }
        let head = try await store.put("https://a.example/new")
        #expect(try await store.bytes(of: head) == Data("x".utf8), "seed \(seed)")
        #expect(notices.list.count == 1, "seed \(seed)")
    }

    @Test("A file of a newer version stays as it is, and is reported")
    func newer() async throws {
        try await fill()
        try await store().queue.run { try $0.connection.execute("PRAGMA user_version = 99") }
        let store = store()
        for _ in 0..<2 {
            await #expect { try await store.statistics() } throws: { NetworkError($0).reason == .storage }
        }
        #expect(notices.list.count == 1)
        #expect(notices.list.first?.description.contains("version 99") == true)
        #expect(!FileManager.default.fileExists(atPath: path + ".damaged"))
    }

    @Test("A database of another program stays as it is")
    func foreign() async throws {
        let other = try Connection(path: path, busyTimeout: .seconds(1))
        try other.execute("CREATE TABLE diary(entry TEXT); INSERT INTO diary VALUES('dear')")
        chmod(path, 0o644)
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        await #expect { try await store().put("https://a.example/") } throws: { NetworkError($0).reason == .storage }
        #expect(try other.rows("SELECT entry FROM diary") { $0.bytes(0) } == [Data("dear".utf8)])
        let after = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(after == before)
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o644)
    }

    @Test("A file of an older version is emptied")
    func older() async throws {
        try await fill()
        try await store().queue.run { try $0.connection.execute("PRAGMA user_version = 0") }
        let store = store()
        #expect(try await store.statistics().entries == 0)
        try await store.put("https://a.example/")
        #expect(try await store.statistics().entries == 1)
        #expect(notices.list.isEmpty)
    }

    /// A damaged file costs the cache, so the disk must keep what it was asked to keep.
    @Test("A disk is asked to empty its cache, where the system has a command for that")
    func wholeWay() async throws {
        let found = try await store().queue.run { database in
            try ["fullfsync", "checkpoint_fullfsync"].flatMap { name in
                try database.connection.rows("PRAGMA \(name)") { $0.number(0) }
            }
        }
        #expect(found == [1, 1])
    }

    @Test("A full disk is an error that is reported once, and the stored entries stay")
    func fullDisk() async throws {
        let store = store()
        let head = try await store.put("https://a.example/")
        try await store.queue.run { _ = try $0.connection.rows("PRAGMA max_page_count = 12") { _ in } }
        for number in 0..<3 {
            let writer = try await store.write(.testing("https://a.example/\(number)"))
            _ = try await writer.append(Data(count: 60_000))
            await #expect { _ = try await writer.commit(replacing: []) } throws: {
                let error = NetworkError($0)
                return error.reason == .storage && error.hint?.contains("disk is full") == true
            }
            #expect(try await store.bytes(of: head) == Data("x".utf8))
        }
        #expect(notices.list.count >= 1)
        #expect(notices.list.allSatisfy { if case .full = $0 { true } else { false } })
    }

    @Test("A path where no file can be created is an error of every call")
    func noPlace() async throws {
        let file = try folder.file("file", "x")
        let store = HTTPCache.SQLiteStore(path: file + "/cache.sqlite") { [notices] in notices.note($0) }
        await #expect { try await store.put("https://a.example/") } throws: { NetworkError($0).reason == .storage }
    }
}
