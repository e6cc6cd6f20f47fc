// SPDX-License-Identifier: MIT

import CurlewCaching
import TestServers
import Testing

@testable import CurlewSQLite

/// Who may read the files of a store.
@Suite(.timeLimit(.minutes(1)))
struct RightsTests {
    let folder: TemporaryFolder
    let path: String
    let notices = Notices()

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path + "/http.sqlite"
    }

    private func mode(_ path: String) -> Int? {
        (try? FileManager.default.attributesOfItem(atPath: path))?[.posixPermissions] as? Int
    }

    @Test("The file is its owner's from the first moment on, also when SQLite opens it")
    func created() throws {
        let database = Database(
            path: path, folder: BodyFolder(path: path + "-bodies"), bytes: 1 << 20, entries: 100, report: { _ in })
        try database.makeFiles()
        #expect(mode(path) == 0o600)
        #expect(mode(path + "-bodies") == 0o700)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 2)
    }

    @Test("Folders that the store makes are its owner's, and existing ones stay as they are")
    func parents() async throws {
        chmod(folder.path, 0o755)
        try await HTTPCache.SQLiteStore(path: folder.path + "/a/b//http.sqlite").put("https://a.example/")
        #expect(mode(folder.path + "/a") == 0o700 && mode(folder.path + "/a/b") == 0o700)
        #expect(mode(folder.path) == 0o755)
        #expect(HTTPCache.SQLiteStore(path: folder.path + "/c/http.sqlite").principalKey != nil)
        #expect(mode(folder.path + "/c") == 0o700)
    }

    @Test("No text of a store holds its key")
    func texts() throws {
        let store = HTTPCache.SQLiteStore(path: path)
        let key = try #require(store.principalKey)
        var dumped = ""
        dump(store, to: &dumped)
        #expect(dumped.contains("HTTPCache.SQLiteStore(") && !dumped.contains("- \(key[0])\n"))
        #expect(dumped.split(separator: "\n").count == 2)
    }

    @Test("A file that an older version left open to others is narrowed, and no file is widened")
    func narrowed() async throws {
        try await HTTPCache.SQLiteStore(path: path).put("https://a.example/")
        for name in ["", "-wal", "-shm"] { chmod(path + name, 0o644) }
        chmod(path + "-bodies", 0o755)
        try await HTTPCache.SQLiteStore(path: path).put("https://a.example/")
        #expect(mode(path) == 0o600)
        #expect(mode(path + "-bodies") == 0o700)
    }

    @Test(
        "A folder of bodies that is a link, a file or of another user is refused", arguments: ["link", "file", "other"])
    func foreignFolder(kind: String) async throws {
        let bodies = path + "-bodies"
        switch kind {
        case "link":
            try FileManager.default.createDirectory(atPath: folder.path + "/away", withIntermediateDirectories: false)
            try FileManager.default.createSymbolicLink(atPath: bodies, withDestinationPath: folder.path + "/away")
        case "file": try Data().write(to: URL(fileURLWithPath: bodies))
        default:
            // Only root can give a folder away.
            guard geteuid() == 0 else { return }
            mkdir(bodies, 0o777)
            chown(bodies, 12_345, 12_345)
        }
        let store = HTTPCache.SQLiteStore(path: path)
        await #expect { try await store.put("https://a.example/") } throws: {
            NetworkError($0).detail.contains("not a folder of this user")
        }
    }
}
