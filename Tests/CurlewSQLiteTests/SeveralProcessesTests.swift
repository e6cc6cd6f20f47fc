// SPDX-License-Identifier: MIT

// Only there can a test start a process.
#if os(Linux) || os(macOS)
import TestServers
import Testing

@testable import CurlewSQLite

/// Stores that are used by other processes, and by ones that are killed.
@Suite(.timeLimit(.minutes(3)), .serialized)
struct SeveralProcessesTests {
    /// What the program says, line by line.
    static func run(_ words: [String]) async throws -> (text: String, status: Int32) {
        let probe = try Program.built("CacheStoreProbe")
        return try await onThread {
            let process = try CompanionProcess(probe, words)
            let text = String(decoding: process.readToEnd(), as: UTF8.self)
            return (text, process.finish())
        }
    }

    @Test("A store killed two hundred times while writing opens, and serves no damaged body")
    func killed() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/cache.sqlite"
        var random = SeededGenerator(seed: 1)
        var entries = 0
        for round in 1...200 {
            let time = Int.random(in: 0...20, using: &random)
            let (text, status) = try await Self.run(["write", path, "\(round)", "\(time)"])
            #expect(status & 0x7F == SIGKILL, "round \(round): \(text)")
            // Another process opens what is left.
            let (found, end) = try await Self.run(["check", path])
            #expect(end == 0, "round \(round): \(found)")
            entries = Int(found.trimmingCharacters(in: .newlines)) ?? 0
        }
        #expect(entries > 0)
        #expect(!FileManager.default.fileExists(atPath: path + ".damaged"))
        let names = try FileManager.default.contentsOfDirectory(atPath: path + "-bodies")
        #expect(names.count <= entries + 10, "files were left behind")
    }

    @Test("Two processes on one store see no error and no wrong body")
    func twoProcesses() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/cache.sqlite"
        let seconds = ProcessInfo.processInfo.environment["CURLEW_CACHE_SECONDS"] ?? "3"
        async let one = Self.run(["mix", path, "1", seconds])
        async let other = Self.run(["mix", path, "2", seconds])
        for (text, status) in [try await one, try await other] {
            #expect(status == 0, "\(text)")
            #expect(text.hasPrefix("fine"), "\(text)")
        }
    }

    /// A new file that a connection writes, until it commits.
    static func writing(_ path: String) throws -> Connection {
        let connection = try Connection(path: path, busyTimeout: .zero)
        try connection.execute("CREATE TABLE some(number INTEGER); BEGIN IMMEDIATE")
        return connection
    }

    @Test("A connection that wants to write ahead waits for one that writes the new file")
    func writerOfNewFile() async throws {
        let folder = try TemporaryFolder()
        let other = try Self.writing(folder.path + "/cache.sqlite")
        let connection = try Connection(path: folder.path + "/cache.sqlite", busyTimeout: .seconds(5))
        _ = try connection.rows("PRAGMA schema_version") { _ in }
        var waits = 0
        try connection.writeAhead {
            waits += 1
            if waits == 3 { try? other.execute("COMMIT") }
        }
        #expect(waits == 3)
        #expect(try connection.rows("PRAGMA journal_mode") { $0.bytes(0) } == [Data("wal".utf8)])
    }

    @Test("A connection gives up when its busy timeout is over")
    func writerThatStays() async throws {
        let folder = try TemporaryFolder()
        let other = try Self.writing(folder.path + "/cache.sqlite")
        let connection = try Connection(path: folder.path + "/cache.sqlite", busyTimeout: .zero)
        let failure = try #require(throws: SQLiteFailure.self) { try connection.writeAhead() }
        #expect(failure.isBusy)
        try other.execute("COMMIT")
        try connection.writeAhead()
    }

    /// Each brings the new file into another mode of SQLite's, which does not wait by itself for the others there.
    @Test("Processes that begin a store at the same time all can use it")
    func newForAll() async throws {
        let folder = try TemporaryFolder()
        for round in 1...60 {
            let path = folder.path + "/\(round).sqlite"
            let ends = try await withThrowingTaskGroup(of: (text: String, status: Int32).self) { group in
                for _ in 1...4 { group.addTask { try await Self.run(["check", path]) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            for (text, status) in ends { #expect(status == 0, "round \(round): \(text)") }
        }
    }
}
#endif
